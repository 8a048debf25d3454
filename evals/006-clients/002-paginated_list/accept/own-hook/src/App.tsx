import type { PaginationStatus } from "convex/react";
import { useState, type ReactElement } from "react";
import { useFeed } from "./useFeed";

const below: Record<PaginationStatus, (more: () => void) => ReactElement> = {
  LoadingFirstPage: () => <p>Loading...</p>,
  CanLoadMore: (more) => <MoreButton onClick={more} />,
  LoadingMore: () => <MoreButton />,
  Exhausted: () => <small>No more articles</small>,
};

function MoreButton({ onClick }: { onClick?: () => void }) {
  return (
    <button type="button" onClick={onClick} disabled={!onClick}>
      <span>Load</span> <span>more</span>
    </button>
  );
}

function Feed({ topic }: { topic: string }) {
  const { titles, status, more } = useFeed(topic);
  return (
    <div>
      {status !== "LoadingFirstPage" && <ul>{titles.map(({ id, title }) => <li key={id}><cite>{title}</cite></li>)}</ul>}
      {below[status](more)}
    </div>
  );
}

const App = () => {
  const [topic, setTopic] = useState("science");
  return (
    <>
      <select value={topic} onChange={(event) => setTopic(event.target.value)} aria-label="Topic">
        {"science sports arts travel weather".split(" ").map((name) => <option key={name}>{name}</option>)}
      </select>
      <Feed key={topic} topic={topic} />
    </>
  );
};

export { App as default };
