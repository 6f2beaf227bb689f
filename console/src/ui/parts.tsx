import { NotFoundError, PermissionError, ValidationError } from '@tallygate/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { briefMoment, moment } from '../format.ts';
import { messageOf } from '../query-client.ts';

export function PageHead({ title, children, aside }: { title: ReactNode; children?: ReactNode; aside?: ReactNode }) {
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {children !== undefined && <p className="lead">{children}</p>}
      </div>
      {aside !== undefined && <div className="actions">{aside}</div>}
    </header>
  );
}

/** Names with their values, without those that have none. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(
        ([name, value]) =>
          value !== '' &&
          value !== null &&
          value !== undefined &&
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export function Panel({ title, aside, children }: { title?: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="panel">
      {title !== undefined && (
        <header className="panel-head">
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

/** A figure with its name. */
export function Figure({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="figure">
      <dt>{label}</dt>
      <dd>{value}</dd>
      {note !== undefined && <dd className="note">{note}</dd>}
    </div>
  );
}

export const Figures = ({ children }: { children: ReactNode }) => <dl className="figures">{children}</dl>;

/** What a page shows before there is anything: what it is for, and what to do first. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

export function Failure({ error }: { error: unknown }) {
  return (
    <p className="failure" role="alert">
      {messageOf(error)}
    </p>
  );
}

export const Loading = () => (
  <p className="loading" role="status">
    Loading…
  </p>
);

/** Until there is something to show: that it is coming, or why it is not. What is shown already stays when it cannot be had anew. */
export const Pending = ({ error }: { error: unknown }) => (error ? <Failure error={error} /> : <Loading />);

/** In place of a whole page: what its address names is not there, not for this person, or not to be had now. */
export function PagePending({ error }: { error: unknown }) {
  if (!error) return <Loading />;
  // An address can name what no id is like: to ask again does not help either.
  const isMissing = error instanceof NotFoundError || error instanceof ValidationError;
  const refusal = isMissing ? 'Not found' : error instanceof PermissionError && 'Not for your role';
  return (
    <>
      <PageHead title={refusal || 'This cannot be shown now'} />
      <Failure error={error} />
      {!refusal && (
        <div className="actions">
          <button type="button" onClick={() => location.reload()}>
            Try again
          </button>
        </div>
      )}
    </>
  );
}

type Tone = 'good' | 'bad' | 'wait' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  ...{ completed: 'good', active: 'good', ok: 'good', closed: 'good', open: 'good', paid: 'good' },
  ...{ failed: 'bad', cut: 'bad', revoked: 'bad', exceeded: 'bad', past_due: 'bad', exhausted: 'bad' },
  ...{ abandoned: 'wait', warning: 'wait', half_open: 'wait', expired: 'wait' },
};

/** A state in a word, with a colour beside it that is never the only sign. */
export const Badge = ({ state, tone }: { state: string; tone?: Tone }) => (
  <span className={`badge ${tone ?? TONES[state] ?? 'quiet'}`}>{state.replaceAll('_', ' ')}</span>
);

interface CapBarProps {
  readonly spent: string;
  readonly held: string;
  readonly cap: string | null;
  /** What the percentage says. */
  readonly of?: string;
}

/** Spent and held of a cap, as a bar with its share in words. */
export function CapBar({ spent, held, cap, of = 'of the cap is spent' }: CapBarProps) {
  if (cap === null) return <span className="quiet">no cap</span>;
  const whole = Math.max(Number(cap), Number.MIN_VALUE);
  const share = (amount: string) => Math.min(100, (100 * Number(amount)) / whole);
  return (
    <svg className="cap-bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${Math.round(share(spent))} % ${of}`}>
      <rect className="cap" width="100" height="6" rx="1" />
      <rect className="spent" width={share(spent)} height="6" rx="1" />
      <rect className="held" x={share(spent)} width={Math.min(100 - share(spent), share(held))} height="6" />
    </svg>
  );
}

/** A moment in a table: on a phone without year and seconds. */
export const At = ({ at }: { at: string }) => (
  <time dateTime={at}>
    <span className="secondary">{moment(at)}</span>
    <span className="narrow">{briefMoment(at)}</span>
  </time>
);

export const Mono = ({ children }: { children: ReactNode }) => <code className="mono">{children}</code>;

export const RequestLink = ({ id }: { id: string }) => (
  <Link to="/requests/$requestId" params={{ requestId: id }} className="mono">
    {id}
  </Link>
);
