import { identityEntities } from '../../../server/src/access/identity/index.ts';
import { keyEntities } from '../../../server/src/access/keys/index.ts';
import { openDatabase } from '../../../server/src/adapters/postgres/database.ts';
import { startInstance } from '../../../server/src/app/http/testing/account-api.ts';
import { createLog } from '../../../server/src/kernel/log.ts';

/**
 * The account API of the server, as a separate process on `DATABASE_URL`: key directory, credential check, listening connection and HTTP
 * are the real ones. It has no lanes and spends nothing, which is why it may run beside a gateway.
 */
const url = process.env['DATABASE_URL'];
if (!url) throw new Error('DATABASE_URL is not set');
const log = createLog('error');
const database = await openDatabase({ url, entities: [...identityEntities, ...keyEntities], log });
const instance = await startInstance(database, url, { log });
process.once('SIGTERM', async () => {
  await instance.close();
  await database.close();
});
process.stdout.write(`listening on ${instance.baseUrl}\n`);
