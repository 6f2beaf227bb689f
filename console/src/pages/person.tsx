import type { MarketingPersonRecord } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { tallygate } from '../client.ts';
import { moment } from '../format.ts';
import { MailState } from '../marketing/mail-state.tsx';
import { type Act, PersonActions, useAct } from '../marketing/person-actions.tsx';
import { STAGES } from '../marketing/stages.ts';
import { useMe } from '../session.ts';
import { Field, Form, given, Select } from '../ui/dialog.tsx';
import { Badge, Facts, PageHead, PagePending, Panel } from '../ui/parts.tsx';

function About({ person }: { person: MarketingPersonRecord }) {
  const { user_id: me } = useMe();
  const owner = person.owner === me ? 'you' : person.owner;
  const facts = [
    ['E-mail addresses', [person.email, ...person.other_emails].join(', ')],
    ['Company', person.company ?? ''],
    ['From', person.sources.join(', ').replaceAll('_', ' ')],
    ['Events', person.event_slugs.join(', ')],
    ['Tags', person.tags.join(', ')],
    ['Kind of client', person.client_type ?? ''],
    ['Plan', person.plan_tier ?? ''],
    ['Responsible', owner ?? 'nobody'],
    ['Consent to news', person.consent?.confirmed_at ? `since ${moment(person.consent.confirmed_at)}` : 'none that counts'],
    ['Unsubscribed', person.unsubscribed_at === null ? '' : moment(person.unsubscribed_at)],
    ['Known since', moment(person.created_at)],
  ] as const;
  return <Facts facts={facts} />;
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

function Detail({ person }: { person: MarketingPersonRecord }) {
  const act = useAct(person.person_id);
  return (
    <>
      <PageHead title={person.name ?? person.email} aside={<PersonActions person={person} act={act} />}>
        <Badge state={person.status} /> <MailState person={person} />
      </PageHead>
      <Panel title="About them">
        <About person={person} />
      </Panel>
      <Panel title="Change">
        <Form action="Save" key={person.updated_at} onSubmit={(fields) => saveAll(fields, person, act)}>
          <Select name="status" label="Stage" options={STAGES} defaultValue={person.status} />
          <Field name="tag" label="Tag" hint="A new one is added; one they have is removed." autoComplete="off" />
          <Field name="note" label="Note" autoComplete="off" />
        </Form>
      </Panel>
      <Panel title="History">
        <History person={person} />
      </Panel>
    </>
  );
}

export function PersonPage() {
  const { personId } = useParams({ from: '/frame/people/$personId' });
  const { data, error } = useQuery({ queryKey: ['person', personId], queryFn: () => tallygate.people.get(personId) });
  return data ? <Detail person={data} /> : <PagePending error={error} />;
}
