import { inferenceRoutes } from './inference-api.ts';
import { realtimeRoutes } from './realtime-api.ts';
import type { ServedRoute } from './router.ts';

/** Everything that runs a model: by a request, or by the events of a connection. */
export const modelRoutes = (deps: Parameters<typeof inferenceRoutes>[0] & Parameters<typeof realtimeRoutes>[0]): ServedRoute[] => [
  ...inferenceRoutes(deps),
  ...realtimeRoutes(deps),
];
