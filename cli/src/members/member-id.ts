import type { Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** Of an id, or of an e-mail address. */
export async function memberIdOf({ signal }: CommandWorld, client: Tallygate, member: string): Promise<string> {
  if (!member.includes('@')) return member;
  for await (const { user_id, email } of client.members.list({}, { signal }))
    if (email.toLowerCase() === member.toLowerCase()) return user_id;
  throw new Failure('not_found', `The account has no member ${member}.`, EXIT.failure, 'tallygate members list');
}
