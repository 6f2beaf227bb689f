import type { SetLimitRequest, SpendingLimit } from '@tallygate/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import type { Period } from '../what-if.ts';
import { AlertsField, alertsIn } from './alerts.tsx';
import { KINDS, kindName, PERIODS } from './kinds.ts';
import { type Subject, WhatIf } from './what-if-hint.tsx';

export const LIMITS = ['limits'] as const;

const wholeOf = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

interface LimitDialogProps {
  /** The limit that is changed. */
  readonly limit?: SpendingLimit;
  /** Whose limit it is to be, where that is decided. */
  readonly about?: Subject;
  readonly onClose: () => void;
}

/** What is typed, as far as the sentence about last month needs it. */
interface Draft {
  readonly kind: SetLimitRequest['kind'];
  readonly subject: string;
  readonly cap: string;
  readonly period: Period;
}

function SubjectFields() {
  return (
    <>
      <Select name="kind" label="Of" options={KINDS} />
      <Field
        name="subject"
        label="Which"
        hint="An id, an agent run, an end user, or a tag as name=value. Empty: the default for all others of this kind."
        autoComplete="off"
      />
    </>
  );
}

function FigureFields({ limit }: { limit: SpendingLimit | undefined }) {
  return (
    <>
      <Field name="cap" label="Cap, USD" inputMode="decimal" defaultValue={limit?.cap_usd ?? ''} />
      {limit ? null : <Select name="period" label="For" options={PERIODS} defaultValue="month" />}
      <Field name="requests" label="Requests a minute" inputMode="numeric" defaultValue={limit?.requests_per_minute?.toString() ?? ''} />
      <Field name="tokens" label="Tokens a minute" inputMode="numeric" defaultValue={limit?.tokens_per_minute?.toString() ?? ''} />
      <AlertsField
        percents={limit?.alert_thresholds}
        hint="Webhooks are told when so much of the cap is spent. For the lifetime of agent runs: of each run’s own ceiling, where that is lower."
      />
    </>
  );
}

const titleOf = (about: Subject | undefined): string =>
  about ? `Limit of ${[kindName(about.kind).toLowerCase(), about.subject].filter(Boolean).join(' ')}` : 'Set a limit';

/** A limit in place of the one of the same kind, subject and period. */
export function LimitDialog({ limit, about = limit, onClose }: LimitDialogProps) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>({
    ...{ kind: about?.kind ?? 'account', subject: about?.subject ?? '' },
    ...{ cap: limit?.cap_usd ?? '', period: limit?.period ?? 'month' },
  });
  const change = ({ name, value }: { name: string; value: string }): void => setDraft((before) => ({ ...before, [name]: value }));
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.limits.set({
      ...{ kind: draft.kind, subject: draft.subject.trim() || null, period: draft.period },
      cap_usd: given(fields, 'cap') ?? null,
      requests_per_minute: wholeOf(given(fields, 'requests')),
      tokens_per_minute: wholeOf(given(fields, 'tokens')),
      alert_thresholds: alertsIn(fields),
    });
    for (const queryKey of [LIMITS, ['limit']]) await client.invalidateQueries({ queryKey });
    onClose();
  };
  const isNamed = (target: EventTarget): target is HTMLInputElement | HTMLSelectElement =>
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  return (
    <Dialog title={titleOf(about)} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <div className="fields" onChange={({ target }) => isNamed(target) && change(target)}>
          {!about && <SubjectFields />}
          <FigureFields limit={limit} />
        </div>
        <WhatIf kind={draft.kind} subject={draft.subject.trim() || null} cap={draft.cap} period={draft.period} />
      </Form>
    </Dialog>
  );
}
