import type { CommandWorld } from '../command.ts';
import { reportOf } from '../failure.ts';

/** What one check has found. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** One sentence, or a command to run. */
  readonly next_step: string | null;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail, next_step: null });
export const warn = (check: string, detail: string, nextStep: string): Finding => ({ check, status: 'warn', detail, next_step: nextStep });
export const fail = (check: string, detail: string, nextStep: string | null): Finding => ({
  check,
  status: 'fail',
  detail,
  next_step: nextStep,
});

/** What hinders a check is what it finds; only Ctrl-C ends them all. */
export async function attempt({ signal }: CommandWorld, check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    signal.throwIfAborted();
    const { message, next_step, code } = await reportOf(error);
    if (code === 'scope_required')
      return [warn(check, message, 'Use a key with the scope account:read, or a login, to have this checked.')];
    return [fail(check, message, next_step ?? null)];
  }
}
