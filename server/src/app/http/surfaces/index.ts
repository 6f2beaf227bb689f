import type { IncomingHttpHeaders } from 'node:http';
import { type RouteMetadata, SURFACE_HEADERS, SURFACES, type Surface } from '@tallygate/contract';
import { anthropicSurface } from './anthropic.ts';
import { googleSurface } from './google.ts';
import type { SurfaceForm } from './surface.ts';

export const SURFACE_FORMS: Readonly<Record<Surface, SurfaceForm>> = { anthropic: anthropicSurface, google: googleSurface };

/** In whose form a route answers: always, or to the clients of a surface that it answers to as well. Undefined: in our own. */
export function surfaceOf(metadata: RouteMetadata | undefined, headers: IncomingHttpHeaders): Surface | undefined {
  return metadata?.surface ?? SURFACES.find((surface) => metadata?.alsoOn?.[surface] && headers[SURFACE_HEADERS[surface]] !== undefined);
}
