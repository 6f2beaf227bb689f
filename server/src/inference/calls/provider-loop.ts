import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { VIA_HEADER } from '../../adapters/upstream/port.ts';
import { Problem } from '../../kernel/problem.ts';

/** More gateways in a row than anybody means to have: those of one service behind one address do not know each other by name. */
const MOST_GATEWAYS = 8;

/** A process's name for itself, which says nothing of it. */
export const newGatewayId = (): string => randomBytes(8).toString('hex');

const IDS = /^[0-9a-f]{16}(, [0-9a-f]{16})*$/;

/** The gateways that a request has come through; undefined where it comes from a client. */
export function viaOf(headers: IncomingHttpHeaders): string | undefined {
  const via = headers[VIA_HEADER];
  return typeof via === 'string' && IDS.test(via) ? via : undefined;
}

/** What the next one is told. */
export const viaWith = (via: string | undefined, gatewayId: string): string => (via === undefined ? gatewayId : `${via}, ${gatewayId}`);

/**
 * A gateway whose provider leads back to it would ask itself without end, each round held and settled.
 * @throws Problem `provider_loop`
 */
export function refuseLoop(via: string | undefined, gatewayId: string): void {
  if (via === undefined) return;
  const before = via.split(', ');
  if (before.includes(gatewayId))
    throw new Problem(
      'provider_loop',
      'The request has come back to this gateway: one of its providers is this gateway itself, or another one that has it for a provider. Change the address of that provider.',
    );
  if (before.length >= MOST_GATEWAYS)
    throw new Problem('provider_loop', `The request has come through ${before.length} gateways already: their providers lead in a circle.`);
}
