import { clientRequestRecords } from '../client-requests/index.ts';
import { recipientRecords } from '../emails/index.ts';
import { registrationRecords } from '../events/index.ts';
import { accountRecords } from '../identity/index.ts';
import { activationRecords, inviteRecords } from '../invites/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { PersonRecords } from '../people/index.ts';

/** What is stored under people's addresses beside their own record: for whoever asks what is known of them, or wants it gone. */
export const personRecords = (clock: Clock): readonly PersonRecords[] => [
  ...accountRecords,
  registrationRecords({ clock }),
  inviteRecords,
  activationRecords,
  clientRequestRecords,
  recipientRecords,
];
