import { tablesOf } from '../../kernel/statements.ts';
import type { DepartedUser, PeopleChunk, Person, PersonHistoryEntry, SuppressedAddress, UnindexedPerson } from './entities.ts';

export const tables = tablesOf<
  typeof DepartedUser | typeof Person | typeof PersonHistoryEntry | typeof UnindexedPerson | typeof PeopleChunk | typeof SuppressedAddress
>();

/** For statements that join them. */
export type PersonTable = typeof Person;
