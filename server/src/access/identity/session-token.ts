import { hash, randomBytes } from 'node:crypto';

const WELL_FORMED = /^tgs_[A-Za-z0-9_-]{43}$/;

/** `tgs_` and 256 random bits in base64url. */
export const mintSessionToken = (): string => `tgs_${randomBytes(32).toString('base64url')}`;

export const isSessionToken = (text: string): boolean => WELL_FORMED.test(text);

/** The only form in which a token is stored. A plain hash is enough: there is nothing to guess in 256 random bits. */
export const sessionTokenHash = (token: string): Buffer => hash('sha256', token, 'buffer');
