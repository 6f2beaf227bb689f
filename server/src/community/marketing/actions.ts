import type { MarketingPeopleActionRequest, MarketingPeopleActionResponse } from '@tallygate/contract';
import type { Pool, PoolClient } from 'pg';
import { actorOf, type Origin, recordAudit } from '../../audit/index.ts';
import type { Principal } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { Problem } from '../../kernel/problem.ts';
import { inTransaction } from '../../kernel/transaction.ts';
import {
  type KnownUnder,
  noteInHistory,
  type PersonRecords,
  type PersonRow,
  personById,
  personToWire,
  suppress,
  unsuppress,
} from '../people/index.ts';

export interface ActionsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Whether a user may look after people. */
  readonly isStaff: (userId: string) => Promise<boolean>;
  /** What other slices keep under the addresses of a person. */
  readonly records: readonly PersonRecords[];
  /** Closes an account that a form created and nobody claimed. @returns false for one that has an owner */
  readonly closeUnclaimed: (sql: Pick<PoolClient, 'query'>, userId: string, at: Date) => Promise<boolean>;
}

interface ActionContext {
  readonly client: PoolClient;
  readonly person: PersonRow;
  readonly at: Date;
  readonly principal: Principal;
}

/** The history entry of an action; undefined if nothing changed. */
type Written = Readonly<Record<string, unknown>> | undefined;

export type Act = (
  caller: { readonly principal: Principal; readonly origin: Origin },
  personId: string,
  request: MarketingPeopleActionRequest,
) => Promise<MarketingPeopleActionResponse>;

/** What people of the marketing team do with a person, each with its place in the history and in the audit log. */
export function createActions(deps: ActionsDeps): Act {
  return ({ principal, origin }, personId, request) =>
    inTransaction(deps.pool, async (client) => {
      // Both at once and in order: two merges of the same two must not each wait for the other.
      if (request.action === 'merge')
        await client.query('select from people where person_id = any($1::uuid[]) order by person_id for update', [
          [personId, request.into],
        ]);
      if (request.action === 'erase') await lockRecords(deps, client, personId);
      const person = await personById(client, personId, true);
      if (!person) throw noSuchPerson();
      const at = new Date(deps.clock.now());
      const { action } = request;
      const written = await perform(deps, { client, person, at, principal }, request);
      if (written) {
        // A merge is in the history of both; an erased person has no history.
        if (action !== 'merge' && action !== 'erase')
          await noteInHistory(client, { personId: person.person_id, action, actor: actorOf(principal), detail: written, at });
        await client.query('update people set updated_at = $2 where person_id = $1', [person.person_id, at]);
        await recordAudit(client, {
          accountId: principal.accountId,
          actor: actorOf(principal),
          action: `person.${action}`,
          target: { kind: 'person', id: person.person_id },
          // Notes are about people and stay erasable; the audit log never forgets.
          changes: action === 'note' ? {} : written,
          origin,
        });
      }
      const after = await personById(client, action === 'merge' ? request.into : person.person_id);
      return { action, changed: written !== undefined, person: after ? personToWire(after) : null };
    });
}

export const noSuchPerson = (): Problem => new Problem('not_found', 'No such person: GET /v1/marketing/people lists those there are.');

function perform(deps: ActionsDeps, context: ActionContext, request: MarketingPeopleActionRequest): Promise<Written> {
  const { person } = context;
  switch (request.action) {
    case 'tag':
      return person.tags.includes(request.tag)
        ? nothing()
        : set(context, 'tags = array_append(tags, $2)', request.tag, { tag: request.tag });
    case 'untag':
      return person.tags.includes(request.tag)
        ? set(context, 'tags = array_remove(tags, $2)', request.tag, { tag: request.tag })
        : nothing();
    case 'assign_owner':
      return assign(deps, context, request.owner);
    case 'set_status':
      return request.status === person.status
        ? nothing()
        : set(context, 'status = $2', request.status, { status: { from: person.status, to: request.status } });
    case 'note':
      return Promise.resolve({ note: request.note });
    case 'merge':
      return merge(context, request.into);
    case 'unsubscribe':
      return unsubscribe(context, request.reason);
    case 'resubscribe':
      return resubscribe(context, request.reason);
    case 'erase':
      return erase(deps, context, request.reason);
    default:
      return request satisfies never;
  }
}

const nothing = (): Promise<undefined> => Promise.resolve(undefined);

async function set({ client, person }: ActionContext, assignment: string, value: unknown, written: Written): Promise<Written> {
  await client.query(`update people set ${assignment} where person_id = $1`, [person.person_id, value]);
  return written;
}

async function assign({ isStaff }: ActionsDeps, context: ActionContext, owner: string | null): Promise<Written> {
  const { owner: before } = context.person;
  if (owner === before) return undefined;
  if (owner !== null && !(await isStaff(owner)))
    throw invalidInput([{ loc: ['body', 'owner'], msg: 'must be a user with the role marketing or admin', type: 'value_error' }]);
  return set(context, 'owner = $2::uuid', owner, { owner: { from: before, to: owner } });
}

async function merge({ client, person, at, principal }: ActionContext, into: string): Promise<Written> {
  const kept = await personById(client, into);
  if (!kept) throw invalidInput([{ loc: ['body', 'into'], msg: 'must be the id of another person', type: 'value_error' }]);
  if (kept.person_id === person.person_id) return undefined;
  if (kept.user_id !== null && person.user_id !== null) throw new Problem('conflict', 'Both have an account: two users cannot be merged.');
  const { kind, id } = actorOf(principal);
  await client.query('select merge_people($1, $2, $3, $4, $5)', [person.person_id, kept.person_id, at, kind, id]);
  return { into: kept.person_id };
}

async function unsubscribe({ client, person, at }: ActionContext, reason: string | undefined): Promise<Written> {
  if (person.unsubscribed_at) return undefined;
  await client.query('update people set unsubscribed_at = $2 where person_id = $1', [person.person_id, at]);
  await suppress(client, { emails: addressesOf(person), reason: 'unsubscribed', at });
  return { ...(reason !== undefined && { reason }) };
}

async function resubscribe({ client, person }: ActionContext, reason: string): Promise<Written> {
  if (!person.unsubscribed_at && !person.bounced_at) return undefined;
  await client.query('update people set unsubscribed_at = null, bounced_at = null where person_id = $1', [person.person_id]);
  await unsuppress(client, addressesOf(person));
  return { reason };
}

/** Before the person: see `PersonRecords`. */
async function lockRecords({ records }: ActionsDeps, client: PoolClient, personId: string): Promise<void> {
  const person = await personById(client, personId);
  if (person) for (const { lock } of records) await lock?.(client, knownUnder(person));
}

async function erase(deps: ActionsDeps, { client, person, at }: ActionContext, reason: string | undefined): Promise<Written> {
  if (person.user_id !== null && !(await deps.closeUnclaimed(client, person.user_id, at)))
    throw new Problem(
      'conflict',
      'They have an account, which only they can close (POST /v1/users/me/close): erase them once it is closed.',
    );
  const of = { ...knownUnder(person), at };
  for (const { erase: eraseFrom } of deps.records) await eraseFrom(client, of);
  await client.query('delete from people where person_id = $1', [person.person_id]);
  await suppress(client, { emails: of.emails, reason: 'erased', at });
  return { ...(reason !== undefined && { reason }) };
}

export const knownUnder = (person: PersonRow): KnownUnder => ({
  emails: addressesOf(person),
  personIds: [person.person_id, ...person.merged_ids],
});

const addressesOf = ({ email, other_emails }: Pick<PersonRow, 'email' | 'other_emails'>): string[] => [email, ...other_emails];
