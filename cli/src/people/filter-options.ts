import type { PeopleFilter } from '@tallygate/sdk';
import { type Command, Option } from 'commander';
import { PersonSourceValues } from '../generated/fields.ts';

const STATUSES = ['new', 'contacted', 'qualified', 'customer', 'lost', 'unsubscribed', 'bounced'] as const;
export interface FilterOptions {
  readonly search?: string;
  readonly status?: (typeof STATUSES)[number];
  readonly source?: (typeof PersonSourceValues)[number];
  readonly event?: string;
  readonly owner?: string;
  readonly clientType?: string;
  readonly plan?: string;
  /** In place of `plan`, where that says what is given. */
  readonly planTier?: string;
  readonly consent?: NonNullable<PeopleFilter['consent']>;
}

/** Adds the options of the filter for people. @param plan the option for the plan that they are on */
export const withFilter = (command: Command, plan: '--plan' | '--plan-tier' = '--plan'): Command =>
  command
    .option('-q, --search <words>', 'words in e-mail address, name or company; #beta finds the tag')
    .addOption(new Option('--status <status>', 'stage, or why they get no mail').choices(STATUSES))
    .addOption(new Option('--source <source>', 'source of the contact').choices(PersonSourceValues))
    .option('--event <slug>', 'an event they registered for')
    .option('--owner <user-id>', 'id of their owner, or none')
    .option('--client-type <type>', 'client type, or none')
    .option(`${plan} <tier>`, 'the id of their account’s plan, or none')
    .addOption(
      new Option('--consent <consent>', 'to news by mail; claimed: given on a form and not confirmed').choices([
        'given',
        'claimed',
        'none',
      ]),
    );

export const filterOf = ({ search, status, source, event, owner, clientType, plan, consent }: FilterOptions): PeopleFilter => ({
  ...(search !== undefined && { q: search }),
  ...(status !== undefined && { status }),
  ...(source !== undefined && { source }),
  ...(event !== undefined && { event_slug: event }),
  ...(owner !== undefined && { owner }),
  ...(clientType !== undefined && { client_type: clientType }),
  ...(plan !== undefined && { plan_tier: plan }),
  ...(consent !== undefined && { consent }),
});
