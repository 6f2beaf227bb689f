import type { UpstreamCall, UpstreamFault } from '../port.ts';
import { type Rejection, rejection } from './rejection.ts';

const parameter = (name: string, otherwise: number | null, most: number) => ({ name, otherwise, most });
const afterChunks = (otherwise: number) => parameter('after', otherwise, 1_000_000);
const milliseconds = (otherwise: number) => parameter('ms', otherwise, 600_000);

/** Every fault that can be asked for, with its parameter: what it is called, what it is when left out, and its upper bound. */
export const FAULTS = {
  '400': undefined,
  '429': parameter('retry-after', null, 86_400),
  '500': undefined,
  '503': undefined,
  timeout: undefined,
  'slow-first-byte': milliseconds(1_000),
  cut: afterChunks(1),
  stall: afterChunks(1),
  'error-event': afterChunks(1),
  malformed: undefined,
  'no-usage': undefined,
  overrun: undefined,
  slow: milliseconds(100),
  refusal: undefined,
  'failed-job': undefined,
  'slow-job': milliseconds(30_000),
} as const;
type FaultName = keyof typeof FAULTS;

/** A fault that the caller asked for; `amount` is its parameter, in the unit of its name (seconds for `retry-after`). */
export interface SandboxFault {
  readonly name: FaultName;
  readonly amount: number | null;
}

const isFaultName = (name: string): name is FaultName => Object.hasOwn(FAULTS, name);

const spelled = (name: FaultName): string => (FAULTS[name] ? `${name}[;${FAULTS[name].name}=N]` : name);

/** Reads `X-Sandbox-Fault`: `name` or `name;parameter=N`. Undefined where the header is not there. */
export function parseFault(header: string | undefined): SandboxFault | undefined | Rejection {
  if (header === undefined) return undefined;
  const [, name = '', given, digits = ''] = /^\s*([\w-]+)\s*(?:;\s*([\w-]+)\s*=\s*(\d{1,9})\s*)?$/.exec(header.toLowerCase()) ?? [];
  if (!isFaultName(name)) return unknown(header);
  const takes = FAULTS[name];
  if (given === undefined) return { name, amount: takes?.otherwise ?? null };
  if (takes?.name !== given || Number(digits) > takes.most) return unknown(header);
  return { name, amount: Number(digits) };
}

function unknown(header: string): Rejection {
  const valid = Object.keys(FAULTS).filter(isFaultName).map(spelled).join(', ');
  return rejection(`Unknown X-Sandbox-Fault ${JSON.stringify(header.slice(0, 100))}. Valid: ${valid}.`, {
    param: null,
    code: 'invalid_sandbox_fault',
  });
}

/** What a provider's adapter makes of a status: the sandbox has no HTTP in between, so it says it itself. */
export function faultInsteadOfAnswer(fault: SandboxFault | undefined): UpstreamFault | undefined {
  const message = `The sandbox refused on request (X-Sandbox-Fault: ${fault?.name}).`;
  switch (fault?.name) {
    case '400':
      return rejected({ ok: false, message, param: null, code: 'sandbox_fault' });
    case '429': {
      const retryAfterMs = fault.amount === null ? null : fault.amount * 1000;
      return { ...FAILED, kind: 'rate_limited', status: 429, retryAfterMs, message, code: 'rate_limit_exceeded' };
    }
    case '500':
    case '503':
      return { ...FAILED, kind: 'failed', status: Number(fault.name), message };
    default:
      return undefined;
  }
}

const FAILED = { ok: false, retryable: true, status: null, retryAfterMs: null, param: null, code: null } as const;

/** @param status what a provider's HTTP status would be */
export const rejected = ({ message, param, code }: Rejection, status = 400): UpstreamFault => ({
  ...FAILED,
  kind: 'rejected',
  retryable: false,
  status,
  message,
  param,
  code,
});

export const timedOut = ({ firstByteTimeoutMs }: UpstreamCall): UpstreamFault => ({
  ...FAILED,
  kind: 'timeout',
  message: `No first byte within ${firstByteTimeoutMs} ms.`,
});

export const cancelled = (): UpstreamFault => ({
  ...FAILED,
  kind: 'cancelled',
  retryable: false,
  message: 'The caller hung up before the sandbox answered.',
});

export const closed = (): UpstreamFault => ({ ...FAILED, kind: 'failed', message: 'The sandbox provider is closed.' });
