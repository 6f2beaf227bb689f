import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import type { World } from './world.ts';

/** Before what is to be written is made, and paid for. `-` and nothing are stdout. */
export async function requireWritable({ hindranceAt }: Pick<World, 'hindranceAt'>, path: string | undefined): Promise<void> {
  const hindrance = path === undefined || path === '-' ? undefined : await hindranceAt(path);
  if (hindrance === undefined) return;
  throw new Failure('not_writable', `${path} cannot be written: ${hindrance}.`, EXIT.usage, 'Name another file.');
}
