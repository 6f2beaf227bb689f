import type { contract } from '@tallygate/contract';
import { actorOf, originOf, recordAudit } from '../../audit/index.ts';
import type { Handlers } from '../../http/index.ts';
import { findPeople, historyOf, personById, personToWire } from '../people/index.ts';
import { type ActionsDeps, createActions, knownUnder, noSuchPerson } from './actions.ts';

/** The people of the marketing workspace; who may call is in the contract. */
export function peopleRoutes(deps: ActionsDeps): Handlers<typeof contract.people> {
  const { pool, records } = deps;
  const act = createActions(deps);
  return {
    list: async ({ query: { limit, offset, ...filter } }) => {
      const { rows, total, isExact } = await findPeople(pool, filter, { limit, offset });
      const data = rows.map((row) => personToWire(row));
      // An estimate does not show whether there is another page.
      const has_more = isExact ? offset + data.length < total : data.length === limit;
      return { status: 200, body: { data, has_more, total, total_is_exact: isExact, limit, offset } };
    },
    get: async ({ params }) => {
      const person = await personById(pool, params.person_id);
      if (!person) throw noSuchPerson();
      const item = personToWire(person, await historyOf(pool, person.person_id));
      return { status: 200, body: { data: [item], has_more: false, total: 1, total_is_exact: true, limit: 1, offset: 0 } };
    },
    act: async ({ principal, params, body, ...call }) => ({
      status: 200,
      body: await act({ principal, origin: originOf(call) }, params.person_id, body),
    }),
    exportOne: async ({ principal, params, ...call }) => {
      const person = await personById(pool, params.person_id);
      if (!person) throw noSuchPerson();
      const of = knownUnder(person);
      const kept: Record<string, Record<string, unknown>[]> = {};
      for (const { kind, read } of records) kept[kind] = await read(pool, of);
      await recordAudit(pool, {
        accountId: principal.accountId,
        actor: actorOf(principal),
        action: 'person.exported',
        target: { kind: 'person', id: person.person_id },
        origin: originOf(call),
      });
      return { status: 200, body: { person: personToWire(person, await historyOf(pool, person.person_id)), records: kept } };
    },
  };
}
