import type { Project } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count } from '../format.ts';
import { Confirm, Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';

const useProjectReload = () => useReload('project', 'projects', 'keys', 'key');

function Rename({ project, onClose }: { project: Project; onClose: () => void }) {
  const reload = useProjectReload();
  const save = async (fields: FormData): Promise<void> => {
    await tallygate.projects.update(project.project_id, { name: given(fields, 'name') ?? '' });
    await reload();
    onClose();
  };
  return (
    <Dialog title={`Rename ${project.name}`} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Field
          name="name"
          label="Name"
          defaultValue={project.name}
          isRequired
          autoComplete="off"
          hint="Its id stays, and so do its keys."
        />
      </Form>
    </Dialog>
  );
}

/** Which keys stop working is said by name. */
function Archive({ project, onClose }: { project: Project; onClose: () => void }) {
  const reload = useProjectReload();
  const { data } = useQuery({ queryKey: ['keys'], queryFn: () => tallygate.keys.list() });
  const keys = data?.filter(({ project_id: id, status }) => id === project.project_id && status === 'active') ?? [];
  const archive = async (): Promise<void> => {
    await tallygate.projects.update(project.project_id, { archived: true });
    await reload();
  };
  return (
    <Confirm title={`Archive ${project.name}?`} action="Archive the project" onConfirm={archive} onClose={onClose}>
      {keys.length === 0
        ? 'It has no active keys: nothing stops working.'
        : `${count(keys.length)} ${keys.length === 1 ? 'key is' : 'keys are'} revoked within a second: ${keys.map(({ name }) => name).join(', ')}.`}{' '}
      What it spent stays. It can be taken into use again, with new keys.
    </Confirm>
  );
}

/** For those who manage the account. */
export function ProjectActions({ project }: { project: Project }) {
  const reload = useProjectReload();
  const [open, setOpen] = useState<'rename' | 'archive'>();
  const close = (): void => setOpen(undefined);
  const restore = async (): Promise<void> => {
    await tallygate.projects.update(project.project_id, { archived: false });
    await reload();
  };
  return (
    <>
      <button type="button" onClick={() => setOpen('rename')}>
        Rename
      </button>
      {project.archived_at === null ? (
        <button type="button" className="danger" onClick={() => setOpen('archive')}>
          Archive
        </button>
      ) : (
        <button type="button" onClick={() => void restore()}>
          Use again
        </button>
      )}
      {open === 'rename' && <Rename project={project} onClose={close} />}
      {open === 'archive' && <Archive project={project} onClose={close} />}
    </>
  );
}
