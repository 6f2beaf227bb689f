import type { MarketingPeopleActionRequest, MarketingPersonRecord } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { moment } from '../format.ts';
import { Confirm, Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { Failure, Loading } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { useReload } from './paged.tsx';

const STAGES = [
  ['new', 'New'],
  ['contacted', 'Contacted'],
  ['qualified', 'Qualified'],
  ['customer', 'Customer'],
  ['lost', 'Lost'],
] as const satisfies readonly (readonly [MarketingPersonRecord['status'], string])[];

type Act = (request: MarketingPeopleActionRequest) => Promise<void>;

function Facts({ person }: { person: MarketingPersonRecord }) {
  const facts = [
    ['E-mail addresses', [person.email, ...person.other_emails].join(', ')],
    ['Company', person.company ?? ''],
    ['From', person.sources.join(', ').replaceAll('_', ' ')],
    ['Events', person.event_slugs.join(', ')],
    ['Tags', person.tags.join(', ')],
    ['Plan', person.plan_tier ?? ''],
    ['Consent to news', person.consent?.confirmed_at ? `since ${moment(person.consent.confirmed_at)}` : 'none that counts'],
    ['Unsubscribed', person.unsubscribed_at === null ? '' : moment(person.unsubscribed_at)],
  ] as const;
  return (
    <dl className="facts">
      {facts.map(
        ([name, value]) =>
          value !== '' && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function History({ person: { history = [] } }: { person: MarketingPersonRecord }) {
  return (
    <ol className="steps">
      {history.map(({ action, detail, at }) => (
        <li key={`${at} ${action}`}>
          <time dateTime={at}>{moment(at)}</time>, {action.replaceAll('_', ' ')}
          {Object.values(detail).length > 0 && `: ${Object.values(detail).map(String).join(', ')}`}
        </li>
      ))}
    </ol>
  );
}

/** A tag, a stage and a note, whichever are given. */
async function saveAll(fields: FormData, person: MarketingPersonRecord, act: Act): Promise<void> {
  const status = fields.get('status') as MarketingPersonRecord['status'];
  const [tag, note] = [given(fields, 'tag'), given(fields, 'note')];
  if (status !== person.status) await act({ action: 'set_status', status });
  if (tag !== undefined) await act(person.tags.includes(tag) ? { action: 'untag', tag } : { action: 'tag', tag });
  if (note !== undefined) await act({ action: 'note', note });
}

const WARNINGS = {
  unsubscribe: ['Unsubscribe', 'gets no marketing mail any more.'],
  erase: ['Erase', 'is erased with all their data, in every list, for ever. This cannot be undone.'],
} as const;

interface PersonProps {
  readonly personId: string;
  readonly onClose: () => void;
}

export function Person({ personId, onClose }: PersonProps) {
  const reload = useReload('people', 'person');
  const [asked, setAsked] = useState<keyof typeof WARNINGS>();
  const { data: person, error } = useQuery({ queryKey: ['person', personId], queryFn: () => tallygate.people.get(personId) });
  const act: Act = async (request) => {
    await tallygate.people.act(personId, request);
    await reload();
  };
  const all = async (): Promise<void> =>
    saveFile(`person-${personId}.json`, JSON.stringify(await tallygate.people.exportOne(personId)), 'application/json');
  if (!person)
    return (
      <Dialog title="Person" onClose={onClose}>
        {error ? <Failure error={error} /> : <Loading />}
      </Dialog>
    );
  const who = person.name ?? person.email;
  if (asked) {
    const [word, sentence] = WARNINGS[asked];
    return (
      <Confirm title={`${word} ${who}?`} action={word} onConfirm={() => act({ action: asked })} onClose={onClose}>
        {person.email} {sentence}
      </Confirm>
    );
  }
  return (
    <Dialog title={who} onClose={onClose}>
      <Facts person={person} />
      <Form action="Save" onSubmit={(fields) => saveAll(fields, person, act)} onCancel={onClose}>
        <Select name="status" label="Stage" options={STAGES} defaultValue={person.status} />
        <Field name="tag" label="Tag" hint="One they have is taken away." autoComplete="off" />
        <Field name="note" label="Note" autoComplete="off" />
      </Form>
      <div className="form-actions">
        <button type="button" onClick={() => void all()}>
          All their data
        </button>
        {person.subscription === 'subscribed' && (
          <button type="button" onClick={() => setAsked('unsubscribe')}>
            Unsubscribe
          </button>
        )}
        <button type="button" className="danger" onClick={() => setAsked('erase')}>
          Erase
        </button>
      </div>
      <h3>History</h3>
      <History person={person} />
    </Dialog>
  );
}
