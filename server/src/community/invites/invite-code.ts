import { hash } from 'node:crypto';
import { randomBase62 } from '../../kernel/ids.ts';

/** 143 bits: cannot be guessed. */
const RANDOM_CHARACTERS = 24;

/** `tgi_…`. By its looks it is taken out of logs and of the audit log. */
export const newInviteCode = (): string => `tgi_${randomBase62(RANDOM_CHARACTERS)}`;

/** The stored form of a code. A plain hash is enough, since codes cannot be guessed. */
export const inviteCodeHash = (code: string): Buffer => hash('sha256', code, 'buffer');
