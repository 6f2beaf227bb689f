import type { FileObject } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { day, fromUnix, size } from '../format.ts';
import { useLivemode } from '../mode.ts';
import { useMay } from '../session.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Paged, useReload } from '../ui/paged.tsx';
import { At, Empty, Failure } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';
import { download } from './download.ts';

const PAGE = 100;

interface Actions {
  readonly mayUse: boolean;
  readonly onSave: (file: FileObject) => void;
  readonly onDelete: (file: FileObject) => void;
}

const columnsOf = ({ mayUse, onSave, onDelete }: Actions): readonly Column<FileObject>[] => [
  {
    name: 'File',
    cell: ({ filename }) => (
      <span className="cut" title={filename}>
        {filename}
      </span>
    ),
  },
  {
    name: 'Id',
    cell: ({ id }) => (
      <code className="mono cut" title={id}>
        {id}
      </code>
    ),
    isSecondary: true,
  },
  { name: 'For', cell: ({ purpose }) => purpose.replaceAll('_', ' '), isSecondary: true },
  { name: 'Size', cell: ({ bytes }) => size(bytes), isFigure: true },
  { name: 'Stored', cell: ({ created_at: at }) => <At at={fromUnix(at)} />, isSecondary: true },
  { name: 'Deletes itself', cell: ({ expires_at: at }) => (at === undefined ? 'never' : day(fromUnix(at))), isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (file) => (
      <span className="row-actions">
        <button type="button" onClick={() => onSave(file)}>
          Save
        </button>
        {mayUse && (
          <button type="button" className="danger" onClick={() => onDelete(file)}>
            Delete
          </button>
        )}
      </span>
    ),
  },
];

/** The stored files of the account, in this mode. */
export function FileList() {
  const livemode = useLivemode();
  const mayUse = useMay('use models');
  const reload = useReload('files');
  const [deleted, setDeleted] = useState<FileObject>();
  const [failure, setFailure] = useState<unknown>();
  const remove = async (): Promise<void> => {
    if (deleted) await tallygate.files.delete(deleted.id);
    await reload();
  };
  return (
    <>
      {failure !== undefined && <Failure error={failure} />}
      <Paged
        name="files"
        by={String(livemode)}
        label="Files, the newest first"
        columns={columnsOf({ mayUse, onSave: ({ id, filename }) => void download(id, filename).catch(setFailure), onDelete: setDeleted })}
        idOf={({ id }) => id}
        read={async (after) => {
          const page = await tallygate.files.list({ livemode, limit: PAGE, ...(after && { after }) });
          return { data: page.data, next_cursor: page.has_more ? page.last_id : null };
        }}
        empty={<Empty title="No files">The input and the output of batches are files, and what requests refer to by its id.</Empty>}
      />
      {deleted && (
        <Confirm title={`Delete ${deleted.filename}?`} action="Delete the file" onConfirm={remove} onClose={() => setDeleted(undefined)}>
          {deleted.id}, {size(deleted.bytes)}: requests and batches that name it are refused from now on. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}
