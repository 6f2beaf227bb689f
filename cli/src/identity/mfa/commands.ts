import type { Command } from 'commander';
import type { Perform } from '../../command.ts';
import { mfaDisable } from './disable.ts';
import { mfaEnable } from './enable.ts';
import { mfaReset } from './reset.ts';
import { mfaStatus } from './status.ts';

export function mfaCommands(mfa: Command, perform: Perform): void {
  mfaStatus(mfa, perform);
  mfaEnable(mfa, perform);
  mfaDisable(mfa, perform);
  mfaReset(mfa, perform);
}
