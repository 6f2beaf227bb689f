import type { LimitKind } from '@tallygate/contract';
import * as z from 'zod';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkedRow, type Queryable } from '../../kernel/statements.ts';

interface Named {
  readonly accountId: string;
  readonly kind: LimitKind;
  readonly subject: string | null;
}

const Found = z.object({ found: z.boolean() });

/** Where the ids of a kind are, each with the account that has it. */
const OWNED = {
  project: 'select exists (select from projects where account_id = $1 and id::text = $2) as found',
  member: 'select exists (select from users where account_id = $1 and id::text = $2 and closed_at is null) as found',
  key: 'select exists (select from api_keys where account_id = $1 and id::text = $2) as found',
} as const;

const WRITTEN = {
  run: [/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ : -'],
  end_user: [/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 characters of ASCII without spaces'],
  tag: [/^[A-Za-z0-9._-]{1,40}=[A-Za-z0-9._:/@+-]{1,80}$/, 'must be a pair such as feature=search'],
} as const;

/**
 * A limit of somebody whom no request can name would bind nothing.
 * @throws Problem `not_found`, `validation_failed`
 */
export async function requireSubject(db: Queryable, { accountId, kind, subject }: Named, isModel: (id: string) => boolean): Promise<void> {
  if (subject === null) return;
  switch (kind) {
    case 'account':
      return;
    case 'project':
    case 'member':
    case 'key': {
      const answer = await checkedRow(db, Found, OWNED[kind], [accountId, subject]);
      if (!answer?.found) throw new Problem('not_found', `There is no such ${kind === 'key' ? 'API key' : kind} in this account.`);
      return;
    }
    case 'run':
    case 'end_user':
    case 'tag': {
      const [pattern, msg] = WRITTEN[kind];
      if (!pattern.test(subject)) throw invalid(msg);
      return;
    }
    case 'model':
      if (!isModel(subject)) throw invalid('is not a model: GET /v1/models lists them');
      return;
    default:
      return kind satisfies never;
  }
}

const invalid = (msg: string): Problem => invalidInput([{ loc: ['body', 'subject'], msg, type: 'invalid' }]);
