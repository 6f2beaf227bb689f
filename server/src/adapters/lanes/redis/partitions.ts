import { crc32 } from 'node:zlib';

/**
 * How many parts the accounts are spread over. A settlement and its record have to be written in one step, and a step stays within one slot
 * of a cluster: so the records are in as many streams as there are parts, which one reader can follow, rather than in one per account.
 * Never to be changed while there is something in them.
 */
const PARTITIONS = 64;

export const partitionOf = (accountId: string): number => crc32(accountId) % PARTITIONS;

/** What all keys of the partition begin with; the braces put them into one slot. */
export const partitionKey = (prefix: string, partition: number): string => `${prefix}:{${partition}}`;

export const ALL_PARTITIONS: readonly number[] = Array.from({ length: PARTITIONS }, (_, partition) => partition);
