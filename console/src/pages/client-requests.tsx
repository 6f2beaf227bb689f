import type { MarketingClientRequestRecord } from '@tallygate/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { moment } from '../format.ts';
import { Dialog, Form, given, Select } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { At, Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';
import { TextArea } from '../ui/text-area.tsx';

type Status = MarketingClientRequestRecord['status'];

const STATES = [
  ['new', 'New'],
  ['in_progress', 'In progress'],
  ['waiting', 'Waiting for them'],
  ['done', 'Done'],
  ['declined', 'Declined'],
] as const satisfies readonly (readonly [Status, string])[];
const TONES = { new: 'wait', in_progress: 'good', waiting: 'wait', done: 'quiet', declined: 'quiet' } as const;

function Answer({ request, onClose }: { request: MarketingClientRequestRecord; onClose: () => void }) {
  const reload = useReload('client-requests');
  const save = async (fields: FormData): Promise<void> => {
    const status = fields.get('status') as Status;
    const note = given(fields, 'note');
    await tallygate.clientRequests.update(request.request_id, {
      ...(status !== request.status && { status }),
      ...(note !== undefined && { note }),
    });
    await reload();
    onClose();
  };
  return (
    <Dialog title={`${request.type} request of ${request.name}`} onClose={onClose}>
      <p>
        {request.email} {request.company !== null && `of ${request.company}`}, {moment(request.created_at)}
      </p>
      <p className="note-text">{request.message}</p>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Select name="status" label="State" options={STATES} defaultValue={request.status} />
        <TextArea name="note" label="Note for the team" rows={3} hint="The sender does not see it." />
      </Form>
    </Dialog>
  );
}

const columnsOf = (onOpen: (request: MarketingClientRequestRecord) => void): readonly Column<MarketingClientRequestRecord>[] => [
  { name: 'Received', cell: ({ created_at: at }) => <At at={at} />, isSecondary: true },
  {
    name: 'From',
    cell: ({ name, email }) => (
      <span className="cut" title={`${name}, ${email}`}>
        {name}, {email}
      </span>
    ),
  },
  { name: 'About', cell: ({ type }) => type },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={TONES[status]} /> },
  {
    name: 'Open',
    isAction: true,
    cell: (request) => (
      <button type="button" onClick={() => onOpen(request)}>
        Open
      </button>
    ),
  },
];

export function ClientRequestsPage() {
  const { status = '' } = useSearch({ from: '/frame/client-requests' });
  const navigate = useNavigate({ from: '/client-requests' });
  const [opened, setOpened] = useState<MarketingClientRequestRecord>();
  return (
    <>
      <PageHead title="Client requests">What people have written by the contact form.</PageHead>
      <search className="filters">
        <label>
          State{' '}
          <select value={status} onChange={({ target }) => void navigate({ search: target.value === '' ? {} : { status: target.value } })}>
            <option value="">any</option>
            {STATES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </search>
      <Paged
        name="client-requests"
        by={status}
        label="Client requests"
        columns={columnsOf(setOpened)}
        idOf={({ request_id: id }) => id}
        read={async (cursor) => tallygate.clientRequests.list({ ...from(cursor), ...(status !== '' && { status }) })}
        empty={
          <Empty title="No requests">
            A contact form sends them to <code>POST /v1/client-requests</code>.
          </Empty>
        }
      />
      {opened && <Answer request={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
