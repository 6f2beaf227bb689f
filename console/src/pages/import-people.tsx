import type { MarketingPeopleImportResponse } from '@tallygate/sdk';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { count } from '../format.ts';
import { type CsvFile, importParts, lookInto } from '../marketing/import-people.ts';
import { useReload } from '../ui/paged.tsx';
import { Failure, Figure, Figures, PageHead, Panel } from '../ui/parts.tsx';
import { saveFile } from '../ui/saved.ts';
import { type Column, Table } from '../ui/table.tsx';

type Result = MarketingPeopleImportResponse;
type ImportError = Result['errors'][number];

const ERRORS: readonly Column<ImportError>[] = [
  { name: 'Line', cell: ({ line }) => count(line), isFigure: true },
  { name: 'What is wrong', cell: ({ message }) => message },
];

const saveErrors = (errors: readonly ImportError[]): void =>
  saveFile(
    'import-errors.csv',
    ['line,message', ...errors.map(({ line, message }) => `${line},"${message.replaceAll('"', '""')}"`)].join('\r\n'),
    'text/csv',
  );

function Outcome({ result, of, isRunning }: { result: Result; of: CsvFile; isRunning: boolean }) {
  const { errors } = result;
  return (
    <>
      <p role="status">
        {isRunning
          ? `${count(result.rows)} of ${count(of.rows)} rows of ${of.file.name}…`
          : `${count(result.rows)} of ${count(of.rows)} rows of ${of.file.name} are read.`}
      </p>
      <Figures>
        <Figure label="New" value={count(result.created)} />
        <Figure label="Known before" value={count(result.updated)} note="completed by what the file says" />
        <Figure label="Left out" value={count(result.skipped)} note="erased at their wish: no import restores them" />
        <Figure label="With an error" value={count(result.failed)} note="not imported" />
      </Figures>
      {errors.length > 0 && (
        <>
          <div className="form-actions">
            <button type="button" onClick={() => saveErrors(errors)}>
              Save the errors as CSV
            </button>
          </div>
          <Table label="Rows that were not imported" rows={errors} columns={ERRORS} idOf={({ line }) => String(line)} />
        </>
      )}
    </>
  );
}

/** What the import does, before it is begun. */
function Plan({ chosen, onImport }: { chosen: CsvFile; onImport: () => void }) {
  return (
    <>
      <p>
        {chosen.file.name} has {count(chosen.rows)} {chosen.rows === 1 ? 'row' : 'rows'} with {chosen.columns.join(', ')}.
      </p>
      <p className="hint">
        People who are known are completed, not doubled. Those with <code>given</code> as their consent get marketing mail from then on. An
        import cannot be undone as a whole; importing the same file again changes nothing.
      </p>
      <div className="form-actions">
        <button type="button" className="primary" onClick={onImport}>
          Import {count(chosen.rows)} {chosen.rows === 1 ? 'row' : 'rows'}
        </button>
      </div>
    </>
  );
}

/** An import that runs, or has run. */
function useImport() {
  const reload = useReload('people');
  const isStopped = useRef(false);
  const [result, setResult] = useState<Result>();
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const run = async ({ file }: CsvFile): Promise<void> => {
    isStopped.current = false;
    setFailure(undefined);
    setRunning(true);
    try {
      for await (const done of importParts(file)) {
        setResult(done);
        if (isStopped.current) break;
      }
    } catch (error) {
      setFailure(error);
    } finally {
      setRunning(false);
      await reload();
    }
  };
  const stop = (): void => {
    isStopped.current = true;
  };
  const forget = (): void => {
    setResult(undefined);
    setFailure(undefined);
  };
  return { result, isRunning, failure, run, stop, forget };
}

function Running({ done, of, onStop }: { done: number; of: number; onStop: () => void }) {
  return (
    <div className="progress">
      <progress aria-label="Rows that are imported" max={of} value={done} />
      <button type="button" onClick={onStop}>
        Stop
      </button>
    </div>
  );
}

export function ImportPeople() {
  const [chosen, setChosen] = useState<CsvFile>();
  const [unreadable, setUnreadable] = useState<unknown>();
  const { result, isRunning, failure, run, stop, forget } = useImport();
  const choose = async (file: File | undefined): Promise<void> => {
    forget();
    setUnreadable(undefined);
    setChosen(undefined);
    if (file) await lookInto(file).then(setChosen, setUnreadable);
  };
  return (
    <>
      <PageHead
        title="Import people"
        aside={
          <Link to="/people" className="button">
            All people
          </Link>
        }
      >
        From a CSV file with a first line that names its columns: <code>email</code>, and any of <code>name</code>, <code>company</code>,{' '}
        <code>client_type</code>, <code>tags</code> (with semicolons between them), <code>event_slug</code>, <code>consent</code>,{' '}
        <code>consent_given_at</code>.
      </PageHead>
      <Panel>
        <label className="field">
          <strong>CSV file</strong>
          <input type="file" accept=".csv,text/csv" disabled={isRunning} onChange={({ target }) => void choose(target.files?.[0])} />
        </label>
        {unreadable !== undefined && <Failure error={unreadable} />}
        {chosen && !result && !isRunning && <Plan chosen={chosen} onImport={() => void run(chosen)} />}
        {chosen && isRunning && <Running done={result?.rows ?? 0} of={chosen.rows} onStop={stop} />}
        {failure !== undefined && <Failure error={failure} />}
        {chosen && result && <Outcome result={result} of={chosen} isRunning={isRunning} />}
      </Panel>
    </>
  );
}
