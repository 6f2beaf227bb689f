import { foldForSearch } from '../../community/people/index.ts';
import type { RunSql } from '../migrate.ts';

const PAGE = 1_000;

/**
 * Searching takes ø for o, ß for ss and the like: names that were folded before are folded as they are now. Only those with such letters
 * change; each change notes itself for the index, and until that has it the row itself is looked at.
 */
export const lettersFoldedMigration = {
  name: '0085-letters-folded',
  async up(run: RunSql): Promise<void> {
    for (let after = '0'; ; ) {
      const people = await run(
        `select n, name, company, folded_name, folded_company from people
         where n > $1 and folded_name || folded_company ~ '[^\\x01-\\x7f]' order by n limit ${PAGE}`,
        [after],
      );
      const folded = people.map(({ n, name, company, folded_name, folded_company }) => ({
        ...{ n: String(n), before: `${folded_name} ${folded_company}` },
        ...{ name: foldForSearch(String(name ?? '')), company: foldForSearch(String(company ?? '')) },
      }));
      const changed = folded.filter(({ before, name, company }) => before !== `${name} ${company}`);
      await run(
        `update people p set folded_name = c.name, folded_company = c.company
         from jsonb_to_recordset($1::jsonb) as c (n bigint, name text, company text) where p.n = c.n`,
        [JSON.stringify(changed)],
      );
      if (people.length < PAGE) return;
      after = String(people.at(-1)?.['n']);
    }
  },
};
