import type { MarketingEmailSendResponse, MarketingEmailTemplateRecord } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count } from '../format.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { TextArea } from '../ui/text-area.tsx';
import { type Mail, MailPreview } from './mail-preview.tsx';
import { TemplateVariables, variablesOf } from './template-variables.tsx';

const MOST = 200;

function mailOf(fields: FormData, template: MarketingEmailTemplateRecord | undefined): Mail {
  const [q, event] = [given(fields, 'q'), given(fields, 'event')];
  const [replyTo, at] = [given(fields, 'reply_to'), given(fields, 'at')];
  return {
    to: { filter: { consent: 'given', ...(q !== undefined && { q }), ...(event !== undefined && { event_slug: event }) } },
    ...(template
      ? { template_id: template.template_id, variables: variablesOf(fields, template) }
      : { subject: given(fields, 'subject') ?? '', text: given(fields, 'text') ?? '' }),
    ...(replyTo !== undefined && { reply_to: replyTo }),
    ...(at !== undefined && { scheduled_at: new Date(`${at}Z`).toISOString() }),
  };
}

function Words({ template }: { template: MarketingEmailTemplateRecord | undefined }) {
  if (template) return <TemplateVariables template={template} />;
  return (
    <>
      <Field name="subject" label="Subject" isRequired autoComplete="off" />
      <TextArea
        name="text"
        label="Text"
        rows={8}
        isRequired
        hint="{{first_name|there}}, {{company}} and {{unsubscribe_url}} are filled in."
      />
    </>
  );
}

interface ChooseProps {
  readonly templates: readonly MarketingEmailTemplateRecord[];
  readonly onChoose: (template: MarketingEmailTemplateRecord | undefined) => void;
}

function ChooseTemplate({ templates, onChoose }: ChooseProps) {
  if (templates.length === 0) return null;
  return (
    <label className="field">
      <strong>Words</strong>
      <select onChange={({ target }) => onChoose(templates.find(({ template_id: id }) => id === target.value))}>
        <option value="">written here</option>
        {templates.map(({ template_id: id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Shown {
  readonly mail: Mail;
  readonly answer: MarketingEmailSendResponse;
}

/** How it looks and whom it reaches, and the button that sends it. */
function Ready({ shown: { mail, answer }, onClose }: { shown: Shown; onClose: () => void }) {
  const reload = useReload('emails');
  const send = async (): Promise<void> => {
    await tallygate.emails.send({ ...mail, mode: 'send' });
    await reload();
    onClose();
  };
  const when = mail.scheduled_at === undefined ? '' : ` on ${mail.scheduled_at.slice(0, 16).replace('T', ' at ')} UTC`;
  return (
    <Dialog title={`Send it to ${count(answer.recipients)} ${answer.recipients === 1 ? 'person' : 'people'}${when}?`} onClose={onClose}>
      <MailPreview mail={mail} answer={answer} />
      {answer.preview && (
        <Form action="Send" onSubmit={send} onCancel={onClose}>
          <p className="hint">Who unsubscribes until then gets nothing. What is sent cannot be taken back.</p>
        </Form>
      )}
    </Dialog>
  );
}

/** First how it looks and whom it reaches; then, on another press, it is sent. */
export function WriteMail({ onClose }: { onClose: () => void }) {
  const [template, setTemplate] = useState<MarketingEmailTemplateRecord>();
  const [shown, setShown] = useState<Shown>();
  const { data } = useQuery({
    queryKey: ['email-templates', 'all'],
    queryFn: async () => tallygate.emails.templates.list({ limit: MOST }),
  });
  const preview = async (fields: FormData): Promise<void> => {
    const mail = mailOf(fields, template);
    setShown({ mail, answer: await tallygate.emails.send({ ...mail, mode: 'preview' }) });
  };
  if (shown) return <Ready shown={shown} onClose={onClose} />;
  return (
    <Dialog title="Write to people" onClose={onClose}>
      <Form action="Show it first" onSubmit={preview} onCancel={onClose}>
        <Field name="q" label="To those who are found by" placeholder="#beta" hint="Of those with consent alone. Empty: all of them." />
        <Field name="event" label="Registered for the event" placeholder="launch-day" autoComplete="off" />
        <ChooseTemplate templates={data?.data ?? []} onChoose={setTemplate} />
        <Words template={template} key={template?.template_id} />
        <Field name="reply_to" label="Replies to" type="email" hint="Empty: the sender." autoComplete="off" />
        <Field name="at" label="Not before, UTC" type="datetime-local" hint="Empty: at once." />
      </Form>
    </Dialog>
  );
}
