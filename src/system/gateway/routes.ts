/** What the path of a request asks for. */
import type { SkuKey } from '../../domain/ids.js';

export interface Route extends SkuKey {
  readonly resource: 'reservations' | 'batch' | 'state' | 'request';
  /** Of `request`, as it stands in the path. */
  readonly requestId: string;
}

const ROUTE = /^\/v1\/activities\/([^/?]{1,64})\/skus\/([^/?]{1,64})\/(?:(reservations)|(reservations:batch)|(state)|requests\/([^/?]{1,192}))$/;

/** Null: no path of this contract. */
export function routeOf(url: string): Route | null {
  const found = ROUTE.exec(url);
  if (found === null) return null;
  const [, activityId = '', skuId = '', reservations, batch, state, requestId = ''] = found;
  return { activityId, skuId, requestId, resource: reservations !== undefined ? 'reservations' : batch !== undefined ? 'batch' : state !== undefined ? 'state' : 'request' };
}

/** `routeOf` that remembers the last purchase: in a sale nearly all requests have the same path. */
export function createRouter(): (url: string) => Route | null {
  let lastUrl = '';
  let last: Route | null = null;
  return (url) => {
    if (url === lastUrl) return last;
    const route = routeOf(url);
    if (route?.resource === 'reservations' || route?.resource === 'batch') {
      lastUrl = url;
      last = route;
    }
    return route;
  };
}
