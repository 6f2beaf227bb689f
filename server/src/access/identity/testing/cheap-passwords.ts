import { createPasswords, type Passwords } from '../passwords.ts';

/** Argon2id at the least cost that it takes, a thousandth of the real one: tests that are not about it sign in thousands of times. */
export const cheapPasswords = (): Passwords => createPasswords({ cost: { memoryKiB: 8, passes: 1, parallelism: 1 } });
