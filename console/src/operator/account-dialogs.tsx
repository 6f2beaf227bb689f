import type { AccountResponse, UserResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { Confirm, Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { Pending } from '../ui/parts.tsx';

const useAccountReload = () => useReload('account', 'accounts', 'account-users', 'audit-log');

interface AccountProps {
  readonly account: AccountResponse;
  readonly onClose: () => void;
}

/** Any plan, without a payment. */
export function GivePlan({ account, onClose }: AccountProps) {
  const reload = useAccountReload();
  const { data, error } = useQuery({ queryKey: ['plans'], queryFn: () => tallygate.plans.list() });
  const { given_plan: now } = account;
  const save = async (fields: FormData): Promise<void> => {
    const version = given(fields, 'version');
    const plan = given(fields, 'other') ?? given(fields, 'plan') ?? null;
    await tallygate.accounts.setPlan(account.account_id, {
      plan_id: plan,
      ...(plan !== null && version !== undefined && { version: Number(version) }),
    });
    await reload();
    onClose();
  };
  return (
    <Dialog title={`The plan of ${account.name}`} onClose={onClose}>
      {!data && <Pending error={error} />}
      {data && (
        <Form action="Save" onSubmit={save} onCancel={onClose}>
          <p>
            The account is on {account.plan_id} now. A plan that is given costs it nothing and counts within a second; a subscription is
            billed all the same.
          </p>
          <Select
            name="plan"
            label="Plan"
            options={[
              ['', 'what it has bought, or the default of new accounts'],
              ...data.map(({ plan_id: id, name, monthly_price_usd: price }) => [id, `${name}, ${usd(price)} a month`] as const),
            ]}
            defaultValue={data.some(({ plan_id: id }) => id === now?.plan_id) ? (now?.plan_id ?? '') : ''}
          />
          <Field
            name="other"
            label="Another plan, by its id"
            hint="One that is not sold. It takes precedence over the choice above."
            defaultValue={data.some(({ plan_id: id }) => id === now?.plan_id) ? '' : (now?.plan_id ?? '')}
            autoComplete="off"
          />
          <Field
            name="version"
            label="Version"
            inputMode="numeric"
            defaultValue={now?.version?.toString() ?? ''}
            hint="Empty: always the newest."
          />
        </Form>
      )}
    </Dialog>
  );
}

const CAPACITIES = [
  ['requests_per_minute', 'Requests a minute'],
  ['tokens_per_minute', 'Tokens a minute'],
  ['concurrency', 'Requests at the same time'],
] as const;

/** What is reserved at the address for dedicated traffic. */
export function ReserveCapacity({ account, onClose }: AccountProps) {
  const reload = useAccountReload();
  const { dedicated_capacity: now } = account;
  const save = async (fields: FormData): Promise<void> => {
    const [requests, tokens, concurrency] = CAPACITIES.map(([name]) => Number(given(fields, name) ?? '0'));
    const isNone = !requests && !tokens && !concurrency;
    await tallygate.accounts.setDedicatedCapacity(account.account_id, {
      dedicated_capacity: isNone
        ? null
        : { requests_per_minute: requests ?? 0, tokens_per_minute: tokens ?? 0, concurrency: concurrency ?? 0 },
    });
    await reload();
    onClose();
  };
  return (
    <Dialog title={`Reserved for ${account.name}`} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <p>Kept free at the address for dedicated traffic, on every gateway, used or not: all others share the rest. All empty: nothing.</p>
        {CAPACITIES.map(([name, label]) => (
          <Field key={name} name={name} label={label} inputMode="numeric" defaultValue={now?.[name].toString() ?? ''} />
        ))}
      </Form>
    </Dialog>
  );
}

interface UserProps {
  readonly user: UserResponse;
  readonly onClose: () => void;
}

const SERVICE_ROLES = [
  ['member', 'Member: uses the service'],
  ['marketing', 'Marketing: people, mails, events, content'],
  ['admin', 'Administrator: runs the gateway, and sees every account'],
] as const satisfies readonly (readonly [UserResponse['role'], string])[];

/** In the service, not in the account. */
export function ServiceRole({ user, onClose }: UserProps) {
  const reload = useAccountReload();
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.users.setRole(user.user_id, fields.get('role') as UserResponse['role']);
    await reload();
    onClose();
  };
  return (
    <Dialog title={`The role of ${user.email} in the service`} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Select name="role" label="Role" options={SERVICE_ROLES} defaultValue={user.role} />
      </Form>
    </Dialog>
  );
}

/** For somebody who has lost it. */
export function ResetSecondFactor({ user, onClose }: UserProps) {
  const reload = useAccountReload();
  const reset = async (): Promise<void> => {
    await tallygate.mfa.reset(user.user_id);
    await reload();
  };
  return (
    <Confirm title={`Remove the second factor of ${user.email}?`} action="Remove it" onConfirm={reset} onClose={onClose}>
      Their password alone opens the account then, and their passkeys are removed. Make sure first that it is they who ask.
    </Confirm>
  );
}
