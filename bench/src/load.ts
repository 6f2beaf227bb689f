import { type Answer, HttpConnection, requireSuccess, type Shot } from './http-connection.ts';

/** One request after the other on one connection. */
export async function sequential(shot: Shot, count: number): Promise<Answer[]> {
  return withConnections(shot, 1, async ([connection]) => {
    const answers: Answer[] = [];
    while (connection && answers.length < count) answers.push(requireSuccess(await connection.send(shot)));
    return answers;
  });
}

/** Every connection sends its next request when the last one is answered. Refusals are an error unless `onAnswer` takes them. */
export async function closedLoop(
  shot: Shot,
  connections: number,
  forMs: number,
  onAnswer: (answer: Answer) => void = requireSuccess,
): Promise<{ requests: number; seconds: number }> {
  return withConnections(shot, connections, async (opened) => {
    const startedAt = performance.now();
    let requests = 0;
    const loop = async (connection: HttpConnection): Promise<void> => {
      while (performance.now() - startedAt < forMs) {
        onAnswer(await connection.send(shot));
        requests += 1;
      }
    };
    await Promise.all(opened.map(loop));
    return { requests, seconds: (performance.now() - startedAt) / 1000 };
  });
}

/** Requests at a fixed rate, whether or not earlier ones are answered: a queue that builds up shows as latency, not as a lower rate. */
export async function openLoop(shot: Shot, perSecond: number, forMs: number): Promise<Answer[]> {
  const idle: HttpConnection[] = [await HttpConnection.open(shot.origin)];
  const opened = [...idle];
  const ask = async (): Promise<Answer> => {
    let connection = idle.pop();
    if (!connection) {
      connection = await HttpConnection.open(shot.origin);
      opened.push(connection);
    }
    const answer = requireSuccess(await connection.send(shot));
    idle.push(connection);
    return answer;
  };
  try {
    const answers: Promise<Answer>[] = [];
    const startedAt = performance.now();
    const total = Math.floor((perSecond * forMs) / 1000);
    await new Promise<void>((resolve) => {
      const sendDue = (): void => {
        const due = Math.min(total, 1 + Math.floor(((performance.now() - startedAt) * perSecond) / 1000));
        while (answers.length < due) answers.push(ask());
        if (answers.length === total) resolve();
        else setTimeout(sendDue, Math.max(0, startedAt + (answers.length * 1000) / perSecond - performance.now()));
      };
      sendDue();
    });
    return await Promise.all(answers);
  } finally {
    for (const connection of opened) connection.close();
  }
}

/** So many requests at the same moment, each on its own connection. */
export async function together(shot: Shot, count: number): Promise<Answer[]> {
  return withConnections(shot, count, (opened) =>
    Promise.all(opened.map(async (connection) => requireSuccess(await connection.send(shot)))),
  );
}

async function withConnections<T>({ origin }: Shot, count: number, use: (opened: HttpConnection[]) => Promise<T>): Promise<T> {
  const opened = await Promise.all(Array.from({ length: count }, () => HttpConnection.open(origin)));
  try {
    return await use(opened);
  } finally {
    for (const connection of opened) connection.close();
  }
}
