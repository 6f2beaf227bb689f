import type { Command } from 'commander';
import type { Perform } from '../command.ts';
import { takeBounce } from './bounce.ts';
import { followEmails } from './follow.ts';
import { sendEmail } from './send.ts';
import { emailTemplates } from './templates.ts';

export function emailCommands(emails: Command, perform: Perform): void {
  sendEmail(emails, perform);
  followEmails(emails, perform);
  emailTemplates(emails, perform);
  takeBounce(emails, perform);
}
