import type { RunningServer } from './server.ts';

type Greeted = Pick<RunningServer, 'url' | 'operationsUrl' | 'bootstrap'>;

/** What a gateway prints once it serves: where it is, and what a first request takes. */
export function greeting({ url, operationsUrl, bootstrap }: Greeted, dataDir: string): string {
  return `
  Tallygate is listening on ${url}

  Look at it in a browser: ${url}/console (sign in as ${bootstrap.admin_email})

  Point any OpenAI client at it (a test key: the sandbox provider answers, nothing is billed):

    export OPENAI_BASE_URL=${bootstrap.base_url}
    export OPENAI_API_KEY=${bootstrap.test_api_key}

  or paste:

    curl ${bootstrap.base_url}/chat/completions \\
      -H "Authorization: Bearer ${bootstrap.test_api_key}" \\
      -H "Content-Type: application/json" \\
      -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello."}]}'

${operationsUrl === undefined ? '' : `  Metrics and health checks: ${operationsUrl}/metrics, /health/live and /health/ready.\n`}${secretsOf(bootstrap, `${dataDir}/bootstrap.json`)}
  Stop with Ctrl-C.

`;
}

/** Only the gateway that made the administrator knows the password. */
const secretsOf = ({ admin_email: email, admin_password: password }: RunningServer['bootstrap'], file: string): string =>
  password === ''
    ? `  The internal secret and the token of /metrics are in ${file}.
  Another gateway of this database made the administrator, ${email}: the password is in bootstrap.json of that gateway.`
    : `  The administrator's password, the internal secret and the token of /metrics are in ${file}.`;
