import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** Of a node of a chain that could not be asked. */
export const nodeFailure = (error: unknown): Failure =>
  new Failure(
    'node_failed',
    `The node cannot be asked: ${error instanceof Error ? error.message : 'no reason given'}`,
    EXIT.failure,
    'Check --rpc.',
  );
