import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../../kernel/problem.ts';

const deriveArgon2 = promisify(argon2);

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const OWASP_COST: Cost = { memoryKiB: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;
const MAX_WAITING = 64;

/** In place of a password that does not exist: the account is closed, or not claimed yet. */
export const NO_PASSWORD = '!';

/** The same, where only the directory of the account logs somebody in: nothing has shown yet that they read their address. */
export const DIRECTORY_LOGIN = '!directory';

interface Cost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly parallelism: number;
}

export interface Passwords {
  /** A PHC string, `$argon2id$v=19$m=…,t=…,p=…$salt$tag`. */
  hash(password: string): Promise<string>;
  /**
   * Does the same work whether or not there is somebody to compare with: with `undefined` the password is run against a
   * hash that nothing opens, so that an answer's time does not tell which e-mail addresses have an account.
   */
  verify(password: string, phc: string | undefined): Promise<boolean>;
}

/**
 * @param concurrency how many derivations run at once; each takes 19 MiB and a thread of the pool that files and DNS use too
 * @param derive replaces argon2id in a test that counts the work
 * @param cost of new hashes; less only where nothing has to be kept secret
 */
export function createPasswords({
  concurrency = 2,
  derive = argon2id,
  cost: newCost = OWASP_COST,
}: {
  concurrency?: number;
  derive?: typeof argon2id;
  cost?: Cost;
} = {}): Passwords {
  const turns = createTurns(concurrency);
  const unopenable = encode(newCost, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return encode(newCost, salt, await turns.run(() => derive(password, salt, newCost)));
    },
    async verify(password, phc = unopenable) {
      const { cost, salt, tag } = decode(phc === NO_PASSWORD || phc === DIRECTORY_LOGIN ? unopenable : phc);
      return timingSafeEqual(await turns.run(() => derive(password, salt, cost)), tag);
    },
  };
}

/** 32 bytes, off the event loop. NFKC, so that a password typed on another keyboard is the same password. */
export function argon2id(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  return deriveArgon2('argon2id', {
    message: password.normalize('NFKC'),
    nonce: salt,
    parallelism: cost.parallelism,
    tagLength: TAG_BYTES,
    memory: cost.memoryKiB,
    passes: cost.passes,
  });
}

/** At most `concurrency` at a time, a bounded number in line; beyond that the caller is told to come back. */
function createTurns(concurrency: number) {
  let free = concurrency;
  const waiting: (() => void)[] = [];
  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (waiting.length >= MAX_WAITING)
        throw new Problem('rate_limited', 'Too many people are signing in: repeat in a second.', { retryAfterSeconds: 1 });
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // A turn passes straight to the next in line, so that nobody can overtake.
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    },
  };
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

const encode = (cost: Cost, salt: Buffer, tag: Buffer): string =>
  `$argon2id$v=19$m=${cost.memoryKiB},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;

function decode(phc: string): { cost: Cost; salt: Buffer; tag: Buffer } {
  const [, memory, passes, parallelism, salt, tag] = PHC.exec(phc) ?? [];
  if (!salt || !tag) throw new Error('A stored password hash is no argon2id PHC string');
  const cost = { memoryKiB: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}
