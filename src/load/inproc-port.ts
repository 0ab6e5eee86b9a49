/**
 * The gateway as the `inproc` transport calls it. Implemented by `lab/inproc-worker.ts`, which composes the real one; handed to the generator as the path of
 * a module, since the generator may know nothing of the system.
 */
import type { Answer } from '../domain/answer.js';
import type { RequestId, UserId } from '../domain/ids.js';
import type { RoleConfig } from '../domain/role-config.js';

export interface InprocAnswer {
  readonly httpStatus: number;
  readonly answer: Answer;
  readonly location: string | null;
}

export interface InprocRequest {
  readonly requestId: RequestId;
  readonly userId: UserId;
  /** The JSON text of the body. One of a few constants. */
  readonly body: string;
  /** What HTTP would carry as `X-Permit` and `X-Device-Id`. */
  readonly permit?: string | null;
  readonly deviceId?: string;
}

export interface InprocGateway {
  /** As a POST. An answer that needs no waiting comes without a promise: 0.04 µs instead of 0.3. A rejection means the outcome is not known. */
  submit(request: InprocRequest): InprocAnswer | Promise<InprocAnswer>;
  /** As a GET of the request's Location. */
  query(requestId: RequestId, userId: UserId): Promise<InprocAnswer>;
  /** Its metrics as Prometheus text: no process of its own serves them. */
  metricsText(): Promise<string>;
  close(): Promise<void>;
}

/** What the module at `InprocJob.modulePath` exports. Resolves when the gateway is ready for requests. */
export interface InprocModule {
  openInprocGateway(config: RoleConfig): Promise<InprocGateway>;
}
