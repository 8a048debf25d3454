import { useQuery } from "convex/react";
import { useState } from "react";
import { createPortal } from "react-dom";
import { api } from "../convex/_generated/api";

const numItems = 5;

interface Props {
  topic: string;
  footer: HTMLElement | null;
}

export function Articles({ topic, footer }: Props) {
  const first = useQuery(api.articles.onTopic, { topic, paginationOpts: { numItems, cursor: null } });
  if (first === undefined) return <p>Loading...</p>;
  return (
    <ul>
      <Articles.Page topic={topic} cursor={null} footer={footer} />
    </ul>
  );
}

Articles.Page = function Page({ topic, cursor, footer }: Props & { cursor: string | null }) {
  const loaded = useQuery(api.articles.onTopic, { topic, paginationOpts: { numItems, cursor } });
  const [more, setMore] = useState(false);
  const below = (content: React.ReactNode) => footer && createPortal(content, footer);
  const button = (disabled: boolean) => (
    <button type="button" disabled={disabled} onClick={() => setMore(true)}>
      Load more
    </button>
  );
  if (loaded === undefined) return below(button(true));
  return (
    <>
      {loaded.page.map(({ _id, title }) => (
        <li key={_id}>{title}</li>
      ))}
      {loaded.isDone ? (
        below(<em>No more articles</em>)
      ) : more ? (
        <Page topic={topic} cursor={loaded.continueCursor} footer={footer} />
      ) : (
        below(button(false))
      )}
    </>
  );
};
