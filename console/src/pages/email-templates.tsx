import type { MarketingEmailSendResponse, MarketingEmailTemplateRecord } from '@tallygate/sdk';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { EditTemplate } from '../marketing/edit-template.tsx';
import { type Mail, MailPreview } from '../marketing/mail-preview.tsx';
import { TemplateVariables, variablesOf } from '../marketing/template-variables.tsx';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { At, Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';

type Template = MarketingEmailTemplateRecord;

/** For whom it is shown, and with what; then how it reads. */
function Preview({ template, onClose }: { template: Template; onClose: () => void }) {
  const [shown, setShown] = useState<{ readonly mail: Mail; readonly answer: MarketingEmailSendResponse }>();
  const preview = async (fields: FormData): Promise<void> => {
    const q = given(fields, 'q');
    const mail = {
      to: { filter: q === undefined ? {} : { q } },
      ...{ template_id: template.template_id, variables: variablesOf(fields, template) },
    };
    setShown({ mail, answer: await tallygate.emails.send({ ...mail, mode: 'preview' }) });
  };
  return (
    <Dialog title={`How ${template.name} reads`} onClose={onClose}>
      <Form action="Show it" onSubmit={preview} onCancel={onClose}>
        <Field name="q" label="To the first who is found by" placeholder="ada" hint="Empty: the first person. Nothing is sent." />
        <TemplateVariables template={template} />
      </Form>
      {shown && <MailPreview {...shown} />}
    </Dialog>
  );
}

interface Actions {
  readonly onEdit: (template: Template) => void;
  readonly onPreview: (template: Template) => void;
  readonly onArchive: (template: Template) => void;
}

const columnsOf = ({ onEdit, onPreview, onArchive }: Actions): readonly Column<Template>[] => [
  {
    name: 'Name',
    cell: ({ name }) => (
      <span className="cut" title={name}>
        {name}
      </span>
    ),
  },
  {
    name: 'Subject',
    cell: ({ subject }) => (
      <span className="cut" title={subject}>
        {subject}
      </span>
    ),
    isSecondary: true,
  },
  {
    name: 'Asks for',
    cell: ({ missing_variables: missing }) => (missing.length === 0 ? '–' : <Badge state={missing.join(', ')} tone="wait" />),
    isSecondary: true,
  },
  { name: 'Version', cell: ({ version }) => version, isFigure: true, isSecondary: true },
  { name: 'Changed', cell: ({ updated_at: at }) => <At at={at} />, isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (template) =>
      template.archived_at !== null ? null : (
        <span className="row-actions">
          <button type="button" onClick={() => onPreview(template)}>
            Preview
          </button>
          <button type="button" onClick={() => onEdit(template)}>
            Edit
          </button>
          <button type="button" onClick={() => onArchive(template)}>
            Archive
          </button>
        </span>
      ),
  },
];

const KINDS = [
  ['used', 'In use'],
  ['archived', 'Archived'],
] as const;

export function EmailTemplatesPage() {
  const reload = useReload('email-templates');
  const isArchive = useSearch({ from: '/frame/email-templates' }).status === 'archived';
  const navigate = useNavigate({ from: '/email-templates' });
  const [edited, setEdited] = useState<Template | 'new'>();
  const [previewed, setPreviewed] = useState<Template>();
  const [archived, setArchived] = useState<Template>();
  const archive = async (): Promise<void> => {
    if (archived) await tallygate.emails.templates.archive(archived.template_id);
    await reload();
  };
  const write = (
    <button type="button" className="primary" onClick={() => setEdited('new')}>
      Write a template
    </button>
  );
  return (
    <>
      <PageHead title="Mail templates" aside={write}>
        The words of mails that are sent again and again. A mail keeps the words that it was sent with.
      </PageHead>
      <Tabs
        label="Templates"
        tabs={KINDS}
        shown={isArchive ? 'archived' : 'used'}
        onShow={(tab) => void navigate({ search: tab === 'archived' ? { status: tab } : {} })}
      />
      <Paged
        name="email-templates"
        by={String(isArchive)}
        label="Mail templates, the last changed first"
        columns={columnsOf({ onEdit: setEdited, onPreview: setPreviewed, onArchive: setArchived })}
        idOf={({ template_id: id }) => id}
        read={async (cursor) => tallygate.emails.templates.list({ ...from(cursor), archived: isArchive })}
        empty={
          <Empty title={isArchive ? 'Nothing is archived' : 'No templates yet'}>
            {isArchive ? 'Archived templates stay readable here.' : 'Write one: mails can then be sent with it, with other words for each.'}
          </Empty>
        }
      />
      {edited && <EditTemplate template={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
      {previewed && <Preview template={previewed} onClose={() => setPreviewed(undefined)} />}
      {archived && (
        <Confirm
          title={`Archive ${archived.name}?`}
          action="Archive the template"
          onConfirm={archive}
          onClose={() => setArchived(undefined)}
        >
          No new mail can use it, and it cannot be brought back; its name can be used again. Mails that are queued are sent.
        </Confirm>
      )}
    </>
  );
}
