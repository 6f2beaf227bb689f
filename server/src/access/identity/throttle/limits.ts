import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** Attempts that cost nothing, then a pause that doubles with each one, up to a longest pause. An hour without any forgets them. */
export interface Limit {
  readonly key: Buffer;
  readonly free: number;
  readonly longestPauseSeconds: number;
  /** A success: `forget` all attempts, or `refund` this one. */
  readonly onSuccess: 'forget' | 'refund';
}

/** Who is trying, and to get at what. */
export interface Attempt {
  /** What is being guessed at: `login`, `mfa`, … Attempts of different kinds never meet. */
  readonly kind: string;
  /** An e-mail address or a user's id. */
  readonly subject: string;
  readonly address: string | null;
}

const key = (...parts: string[]): Buffer => hash('sha256', JSON.stringify(parts), 'buffer');

/** Somebody with IPv6 has 2⁶⁴ addresses: what counts is the network. */
export function networkOf(address: string | null): string {
  if (address === null) return 'none';
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('%')[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const missing = plain.includes('::') ? 8 - groups.length - (tail === '' ? 0 : tail.split(':').length) : 0;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')].slice(0, 4).join(':');
}

/**
 * Three brakes on guessing, from narrow to wide.
 *
 * 1. Subject and address: what one guesser meets. A stranger's failures from elsewhere do not touch the owner's address.
 * 2. Subject: what many guessers together meet, 65 tries in an hour at most. It is short, so that nobody can be locked out with it, and it does
 *    not apply to addresses from which the owner has logged in before. Guessers who share such addresses have 28 tries more together, however
 *    many of them there are: fewer than 100 in all.
 * 3. Address: one guesser who goes through many subjects. An office behind one address has many successes, which are refunded.
 */
export function guessingLimits({ kind, subject, address }: Attempt, isKnownAddress: boolean): Limit[] {
  const network = networkOf(address);
  return [
    { key: key(kind, 'both', subject, network), free: 5, longestPauseSeconds: 300, onSuccess: 'forget' },
    isKnownAddress
      ? { key: key(kind, 'known', subject), free: 10, longestPauseSeconds: 300, onSuccess: 'refund' }
      : { key: key(kind, 'subject', subject), free: 20, longestPauseSeconds: 90, onSuccess: 'refund' },
    { key: key(kind, 'address', network), free: 100, longestPauseSeconds: 60, onSuccess: 'refund' },
  ];
}

/** For what has no success to look at, such as asking for a mail: only the caller's own doing counts, never a stranger's. */
export function askingLimits({ kind, subject, address }: Attempt): Limit[] {
  const network = networkOf(address);
  return [
    { key: key(kind, 'both', subject, network), free: 5, longestPauseSeconds: 300, onSuccess: 'refund' },
    { key: key(kind, 'address', network), free: 100, longestPauseSeconds: 60, onSuccess: 'refund' },
  ];
}

/** Mails to strangers in the name of an account: somebody with many addresses is still one account. */
export const invitingLimits = ({ accountId, ...invited }: Omit<Attempt, 'kind'> & { readonly accountId: string }): Limit[] => [
  ...askingLimits({ kind: 'invite-member', ...invited }),
  { key: key('invite-member', 'account', accountId), free: 50, longestPauseSeconds: 300, onSuccess: 'refund' },
];

interface Form extends Attempt {
  /** How often somebody may send it for one subject in an hour, and how often for all of them together. */
  readonly freePerSubject: number;
  readonly freePerAddress: number;
}

/** For public forms, which anybody may send with anybody's e-mail address: only the caller's own doing counts, never a stranger's. */
export function formLimits({ kind, subject, address, freePerSubject, freePerAddress }: Form): Limit[] {
  const network = networkOf(address);
  return [
    { key: key(kind, 'both', subject, network), free: freePerSubject, longestPauseSeconds: 300, onSuccess: 'refund' },
    { key: key(kind, 'address', network), free: freePerAddress, longestPauseSeconds: 60, onSuccess: 'refund' },
  ];
}

/** For tokens of 256 bits, which nobody guesses: it keeps the work within bounds. */
export const tokenLimits = (kind: string, address: string | null): Limit[] => [
  { key: key(kind, 'address', networkOf(address)), free: 30, longestPauseSeconds: 60, onSuccess: 'refund' },
];

/** For the holder of a session who is asked for the password again: there are no strangers here. */
export const provingLimits = (userId: string): Limit[] => [
  { key: key('proof', userId), free: 5, longestPauseSeconds: 300, onSuccess: 'forget' },
];
