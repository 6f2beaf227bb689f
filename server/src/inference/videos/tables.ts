import { tablesOf } from '../../kernel/statements.ts';
import type { Video, VideoCharacter, VideoContent } from './entities.ts';

export const tables = tablesOf<typeof Video | typeof VideoCharacter | typeof VideoContent>();
