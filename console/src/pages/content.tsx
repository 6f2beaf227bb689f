import type { MarketingContentRecord } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { Confirm, Dialog, Field, Form, given, Select } from '../ui/dialog.tsx';
import { from, Paged, useReload } from '../ui/paged.tsx';
import { At, Badge, Empty, PageHead } from '../ui/parts.tsx';
import type { Column } from '../ui/table.tsx';
import { TextArea } from '../ui/text-area.tsx';

const TYPES = [
  ['post', 'Post'],
  ['page', 'Page'],
  ['changelog', 'Changelog'],
  ['case_study', 'Case study'],
  ['announcement', 'Announcement'],
] as const satisfies readonly (readonly [MarketingContentRecord['type'], string])[];

function Edit({ content, onClose }: { content: MarketingContentRecord | undefined; onClose: () => void }) {
  const reload = useReload('content');
  const save = async (fields: FormData): Promise<void> => {
    const summary = given(fields, 'summary');
    const text = {
      type: fields.get('type') as MarketingContentRecord['type'],
      ...{ title: given(fields, 'title') ?? '', slug: given(fields, 'slug') ?? '', body: given(fields, 'body') ?? '' },
      tags: (given(fields, 'tags') ?? '').split(/\s*,\s*/).filter(Boolean),
    };
    if (content) await tallygate.content.update(content.content_id, { ...text, version: content.version, summary: summary ?? null });
    else await tallygate.content.create({ ...text, ...(summary !== undefined && { summary }) });
    await reload();
    onClose();
  };
  return (
    <Dialog title={content ? `Edit ${content.title}` : 'Write a draft'} onClose={onClose}>
      <Form action="Save" onSubmit={save} onCancel={onClose}>
        <Field name="title" label="Title" defaultValue={content?.title ?? ''} isRequired />
        <Field name="slug" label="Name in its address" placeholder="receipts-are-here" defaultValue={content?.slug ?? ''} isRequired />
        <Select name="type" label="Kind" options={TYPES} defaultValue={content?.type ?? 'post'} />
        <Field name="summary" label="Summary" defaultValue={content?.summary ?? ''} />
        <TextArea name="body" label="Text, Markdown" rows={10} defaultValue={content?.body ?? ''} isRequired />
        <Field name="tags" label="Tags" hint="With commas between them." defaultValue={content?.tags.join(', ') ?? ''} />
      </Form>
    </Dialog>
  );
}

const columnsOf = (
  onEdit: (content: MarketingContentRecord) => void,
  onPublish: (content: MarketingContentRecord) => void,
): readonly Column<MarketingContentRecord>[] => [
  {
    name: 'Title',
    cell: ({ title }) => (
      <span className="cut" title={title}>
        {title}
      </span>
    ),
  },
  { name: 'Kind', cell: ({ type }) => type.replaceAll('_', ' '), isSecondary: true },
  { name: 'Address', cell: ({ slug }) => <code className="mono">{slug}</code>, isSecondary: true },
  { name: 'State', cell: ({ status }) => <Badge state={status} tone={status === 'published' ? 'good' : 'wait'} /> },
  { name: 'Changed', cell: ({ updated_at: at }) => <At at={at} />, isSecondary: true },
  {
    name: 'Change',
    isAction: true,
    cell: (content) => (
      <span className="row-actions">
        <button type="button" onClick={() => onEdit(content)}>
          Edit
        </button>
        <button type="button" onClick={() => onPublish(content)}>
          {content.status === 'published' ? 'Withdraw' : 'Publish'}
        </button>
      </span>
    ),
  },
];

export function ContentPage() {
  const reload = useReload('content');
  const [edited, setEdited] = useState<MarketingContentRecord | 'new'>();
  const [switched, setSwitched] = useState<MarketingContentRecord>();
  const isPublished = switched?.status === 'published';
  const publish = async (): Promise<void> => {
    if (!switched) return;
    if (isPublished) await tallygate.content.unpublish(switched.content_id);
    else await tallygate.content.publish(switched.content_id);
    await reload();
  };
  const write = (
    <button type="button" className="primary" onClick={() => setEdited('new')}>
      Write a draft
    </button>
  );
  return (
    <>
      <PageHead title="Content" aside={write}>
        Posts, pages and announcements of the site. A draft is seen here alone.
      </PageHead>
      <Paged
        name="content"
        label="Content, the last changed first"
        columns={columnsOf(setEdited, setSwitched)}
        idOf={({ content_id: id }) => id}
        read={async (cursor) => tallygate.content.list(from(cursor))}
        empty={<Empty title="Nothing is written yet">Write a draft: it is public once it is published.</Empty>}
      />
      {edited && <Edit content={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
      {switched && (
        <Confirm
          title={`${isPublished ? 'Withdraw' : 'Publish'} ${switched.title}?`}
          action={isPublished ? 'Withdraw it' : 'Publish it'}
          onConfirm={publish}
          onClose={() => setSwitched(undefined)}
        >
          {isPublished
            ? `${switched.slug} is not found any more until it is published again.`
            : `Everybody can read ${switched.slug} then, and its address does not change any more.`}
        </Confirm>
      )}
    </>
  );
}
