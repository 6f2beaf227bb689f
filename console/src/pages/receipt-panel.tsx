import { costLines, type ReceiptResponse, type ReceiptVerification } from '@tallygate/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { decimal, NANO_DIGITS, PICO_DIGITS, usd } from '../format.ts';
import { messageOf, untilSettled } from '../query-client.ts';
import { Mono, Panel, Pending } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';

/** A receipt is in the log some seconds after its request. */
const RETRY_MS = 1_500;

/** How the cost follows from usage and prices, as the receipt states both. */
function Bill({ payload }: Pick<ReceiptResponse, 'payload'>) {
  return (
    <table className="bill">
      <caption className="unseen">How the cost is worked out</caption>
      <tbody>
        {costLines(payload).map(({ meter, units, unit_price_pico_usd: price, pico_usd: sum }) => (
          <tr key={meter}>
            <th scope="row">{meter.replaceAll('_', ' ')}</th>
            <td className="figure-cell">
              {units} × {usd(decimal(price, PICO_DIGITS))}
            </td>
            <td className="figure-cell">{usd(decimal(sum, PICO_DIGITS))}</td>
          </tr>
        ))}
        {payload.price_factor !== '1' && (
          <tr>
            <th scope="row">factor on the prices</th>
            <td />
            <td className="figure-cell">× {payload.price_factor}</td>
          </tr>
        )}
        <tr className="sum">
          <th scope="row">cost, rounded up once</th>
          <td />
          <td className="figure-cell">{usd(decimal(payload.cost_nano_usd, NANO_DIGITS))}</td>
        </tr>
      </tbody>
    </table>
  );
}

function Verdict({ found }: { found: ReceiptVerification }) {
  if (!found.valid)
    return (
      <p className="failure" role="alert">
        Not valid: {found.reason} ({found.code})
      </p>
    );
  return (
    <div className="verdict" role="status">
      <p className="valid">Valid: checked in this browser.</p>
      <ul className="checks">
        {Object.entries(found.checks).map(([check, state]) => (
          <li key={check}>
            <strong>{check.replaceAll('_', ' ')}</strong> {String(state)}
          </li>
        ))}
      </ul>
      <h3>This proves</h3>
      <ul>
        {found.proves.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <h3>It does not prove</h3>
      <ul>
        {found.does_not_prove.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

function Receipt({ receipt }: { receipt: ReceiptResponse }) {
  const verify = useMutation({ mutationFn: () => tallygate.receipts.verify(receipt) });
  const place = receipt.log.state === 'logged' ? `entry ${receipt.log.index} of the log` : 'not in the log yet';
  return (
    <>
      <p>
        <Mono>{receipt.id}</Mono>, {place}.
      </p>
      <Bill payload={receipt.payload} />
      <div className="form-actions">
        <button type="button" onClick={() => saveFile(`receipt-${receipt.id}.json`, JSON.stringify(receipt), 'application/json')}>
          Save as a file
        </button>
        <button type="button" className="primary" disabled={verify.isPending} onClick={() => verify.mutate()}>
          Verify
        </button>
      </div>
      {verify.error && <p className="failure">{messageOf(verify.error)}</p>}
      {verify.data && <Verdict found={verify.data} />}
    </>
  );
}

/** The receipt of a request, with what makes up its cost, checked here on a press of the button. */
export function ReceiptPanel({ receiptId }: { receiptId: string }) {
  const { data, error } = useQuery({
    queryKey: ['receipt', receiptId],
    queryFn: () => tallygate.receipts.get(receiptId),
    ...untilSettled,
    refetchInterval: ({ state }) => (state.data?.log.state === 'logged' ? false : RETRY_MS),
  });
  return (
    <Panel title="Receipt">
      {!data && <Pending error={error} />}
      {data && <Receipt receipt={data} />}
    </Panel>
  );
}
