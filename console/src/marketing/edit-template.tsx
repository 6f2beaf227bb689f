import type { MarketingEmailTemplateRecord } from '@tallygate/sdk';
import { tallygate } from '../client.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { TextArea } from '../ui/text-area.tsx';

const LINE = /^\s*([a-z][a-z0-9_]*)\s*=\s*(.*)$/;

/** "link = https://example.com", a line each. @throws for a line that is none */
function variablesOf(text: string | undefined): Record<string, string> {
  const lines = (text ?? '').split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = LINE.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`“${line.trim()}” is no variable: write name = value.`);
      return [name, value.trim()];
    }),
  );
}

interface EditTemplateProps {
  readonly template: MarketingEmailTemplateRecord | undefined;
  readonly onClose: () => void;
}

export function EditTemplate({ template, onClose }: EditTemplateProps) {
  const reload = useReload('email-templates');
  const save = async (fields: FormData): Promise<void> => {
    const html = given(fields, 'html');
    const words = {
      ...{ name: given(fields, 'name') ?? '', subject: given(fields, 'subject') ?? '', text: given(fields, 'text') ?? '' },
      variables: variablesOf(given(fields, 'variables')),
    };
    if (template) await tallygate.emails.templates.update(template.template_id, { ...words, html: html ?? null });
    else await tallygate.emails.templates.create({ ...words, ...(html !== undefined && { html }) });
    await reload();
    onClose();
  };
  const variables = Object.entries(template?.variables ?? {}).map(([name, value]) => `${name} = ${value}`);
  return (
    <Dialog title={template ? `Edit ${template.name}` : 'Write a template'} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Field
          name="name"
          label="Name, for the team"
          placeholder="beta-open"
          defaultValue={template?.name ?? ''}
          isRequired
          autoComplete="off"
        />
        <Field name="subject" label="Subject" defaultValue={template?.subject ?? ''} isRequired autoComplete="off" />
        <TextArea
          name="text"
          label="Text"
          rows={8}
          isRequired
          defaultValue={template?.text ?? ''}
          hint="{{first_name|there}}, {{company}} and {{unsubscribe_url}} are filled in, and every variable below."
        />
        <TextArea name="html" label="HTML part" rows={4} defaultValue={template?.html ?? ''} hint="Empty: made from the text." />
        <TextArea
          name="variables"
          label="Values of its own variables"
          rows={3}
          defaultValue={variables.join('\n')}
          hint="One a line: link = https://example.com/beta. One without a value here is asked for with each mail."
        />
      </Form>
    </Dialog>
  );
}
