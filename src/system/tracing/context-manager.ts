/**
 * A context manager for the OpenTelemetry API over AsyncLocalStorage, registered when tracing is switched on and no SDK has brought its own:
 * without one, `context.active()` is empty after the first `await`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import { context, ROOT_CONTEXT, type Context, type ContextManager } from '@opentelemetry/api';

class LocalStorageContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(active: Context, work: Work, self?: ThisParameterType<Work>, ...args: Args): ReturnType<Work> {
    return this.#storage.run(active, () => work.call(self, ...args));
  }

  bind<T>(active: Context, target: T): T {
    if (typeof target !== 'function') return target;
    const work = target as unknown as (...args: unknown[]) => unknown;
    return ((...args: unknown[]) => this.#storage.run(active, () => work(...args))) as unknown as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

let registered = false;

/** Once per process; does nothing where an SDK has registered a context manager before. */
export function ensureContextManager(): void {
  if (registered) return;
  registered = true;
  context.setGlobalContextManager(new LocalStorageContextManager());
}
