import type { Migration } from '../migrate.ts';
import { foundation } from './0001-foundation.ts';

/** Every migration, in the order in which they are applied. New ones go to the end. */
export const migrations: readonly Migration[] = [foundation];
