import type { MarketingPeopleActionRequest, MarketingPersonRecord } from '@tallygate/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { useMe } from '../session.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { saveFile } from '../ui/saved.ts';

export type Act = (request: MarketingPeopleActionRequest) => Promise<void>;

/** Does something with a person, and shows them as they are then. */
export function useAct(personId: string): Act {
  const reload = useReload('people', 'person');
  return async (request) => {
    await tallygate.people.act(personId, request);
    await reload();
  };
}

const WARNINGS = {
  unsubscribe: ['Unsubscribe', 'gets no marketing mail any more.'],
  erase: ['Erase', 'is erased with all their data, in every list, for ever. This cannot be undone, and no import restores them.'],
} as const;

interface AskProps {
  readonly person: MarketingPersonRecord;
  readonly act: Act;
  readonly onClose: () => void;
}

function Resubscribe({ person, act, onClose }: AskProps) {
  const save = async (fields: FormData): Promise<void> => {
    await act({ action: 'resubscribe', reason: given(fields, 'reason') ?? '' });
    onClose();
  };
  return (
    <Dialog title={`Subscribe ${person.email} again?`} onClose={onClose}>
      <Form action="Subscribe again" onSubmit={save} onCancel={onClose}>
        <Field name="reason" label="How they asked for it" placeholder="On the phone, 21 November" isRequired autoComplete="off" />
      </Form>
    </Dialog>
  );
}

/** By address: ids are nothing that people have at hand. */
function Merge({ person, act, onClose }: AskProps) {
  const merge = async (fields: FormData): Promise<void> => {
    const email = given(fields, 'email') ?? '';
    const found = await tallygate.people.list({ q: email, limit: 50 });
    const into = found.data.find((other) => [other.email, ...other.other_emails].includes(email.toLowerCase()));
    if (!into) throw new Error(`Nobody has the address ${email}.`);
    if (into.person_id === person.person_id) throw new Error('That is the same person.');
    await act({ action: 'merge', into: into.person_id });
    onClose();
  };
  return (
    <Dialog title={`Merge ${person.email} into somebody?`} onClose={onClose}>
      <Form action="Merge" isDangerous onSubmit={merge} onCancel={onClose}>
        <p>All that is known of {person.email} moves to the person who is kept. This cannot be undone.</p>
        <Field name="email" label="Address of the person to keep" type="email" isRequired autoComplete="off" />
      </Form>
    </Dialog>
  );
}

type Asked = 'unsubscribe' | 'erase' | 'resubscribe' | 'merge';

function Question({ asked, ...rest }: AskProps & { asked: Asked }) {
  const navigate = useNavigate();
  if (asked === 'resubscribe') return <Resubscribe {...rest} />;
  if (asked === 'merge') return <Merge {...rest} />;
  const confirm = async (): Promise<void> => {
    // Their page first: there is nobody to show on it then.
    if (asked === 'erase') await navigate({ to: '/people' });
    await rest.act({ action: asked });
  };
  const [word, sentence] = WARNINGS[asked];
  return (
    <Confirm title={`${word} ${rest.person.name ?? rest.person.email}?`} action={word} onConfirm={confirm} onClose={rest.onClose}>
      {rest.person.email} {sentence}
    </Confirm>
  );
}

export function PersonActions({ person, act }: { person: MarketingPersonRecord; act: Act }) {
  const { user_id: me } = useMe();
  const [asked, setAsked] = useState<Asked>();
  const all = async (): Promise<void> => {
    const data = await tallygate.people.exportOne(person.person_id);
    saveFile(`person-${person.person_id}.json`, JSON.stringify(data), 'application/json');
  };
  const button = (label: string, press: () => void, className?: string) => (
    <button type="button" className={className} onClick={press}>
      {label}
    </button>
  );
  const isMine = person.owner === me;
  return (
    <>
      {button(isMine ? 'Not mine any more' : 'Make mine', () => void act({ action: 'assign_owner', owner: isMine ? null : me }))}
      {button('All their data', () => void all())}
      {button('Merge', () => setAsked('merge'))}
      {person.subscription === 'subscribed' && button('Unsubscribe', () => setAsked('unsubscribe'))}
      {person.subscription === 'unsubscribed' && button('Subscribe again', () => setAsked('resubscribe'))}
      {button('Erase', () => setAsked('erase'), 'danger')}
      {asked && <Question {...{ asked, person, act }} onClose={() => setAsked(undefined)} />}
    </>
  );
}
