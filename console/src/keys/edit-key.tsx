import type { KeyResponse } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { lastMonth } from '../what-if.ts';
import { KeyFields, keyIn, wordsIn } from './key-fields.tsx';
import { modelsWhatIf } from './models-what-if.ts';

/** What the models that are being typed would have refused last month. */
function ModelsWhatIf({ apiKey, models }: { apiKey: KeyResponse; models: string }) {
  const query = { ...lastMonth(), group_by: 'model', key_id: apiKey.key_id, livemode: apiKey.livemode } as const;
  const { data } = useQuery({ queryKey: ['usage', query], queryFn: () => tallygate.usage.get(query) });
  return (
    <p className="hint" role="status">
      {data && modelsWhatIf(wordsIn(models), data.items)}
    </p>
  );
}

/** Everything of a key but its cap, which has a dialog with its own figures. */
export function EditKey({ apiKey, onClose }: { apiKey: KeyResponse; onClose: () => void }) {
  const reload = useReload('key', 'keys');
  const [models, setModels] = useState(apiKey.allowed_models?.join('\n') ?? '');
  const save = async (fields: FormData): Promise<void> => {
    const project = given(fields, 'project') ?? null;
    await tallygate.keys.update(apiKey.key_id, {
      ...keyIn(fields),
      ...(fields.has('project') && project !== apiKey.project_id && { project_id: project }),
    });
    await reload();
    onClose();
  };
  return (
    <Dialog title={`Change ${apiKey.name}`} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <div
          className="fields"
          onChange={({ target }) => target instanceof HTMLTextAreaElement && target.name === 'models' && setModels(target.value)}
        >
          <Field name="name" label="Name" defaultValue={apiKey.name} isRequired autoComplete="off" />
          <KeyFields apiKey={apiKey} />
        </div>
        <ModelsWhatIf apiKey={apiKey} models={models} />
        <p className="hint">In force within a second, for what uses {apiKey.prefix}… now.</p>
      </Form>
    </Dialog>
  );
}
