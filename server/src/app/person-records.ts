import { directoryRecords } from '../access/directory/index.ts';
import { accountRecords } from '../access/identity/index.ts';
import { clientRequestRecords } from '../community/client-requests/index.ts';
import { recipientRecords } from '../community/emails/index.ts';
import { registrationRecords } from '../community/events/index.ts';
import { activationRecords, inviteRecords } from '../community/invites/index.ts';
import type { PersonRecords } from '../community/people/index.ts';
import type { Clock } from '../kernel/clock.ts';

/** What is stored under people's addresses beside their own record: for requests of access and of erasure. */
export const personRecords = (clock: Clock): readonly PersonRecords[] => [
  ...accountRecords,
  directoryRecords,
  registrationRecords({ clock }),
  inviteRecords,
  activationRecords,
  clientRequestRecords,
  recipientRecords,
];
