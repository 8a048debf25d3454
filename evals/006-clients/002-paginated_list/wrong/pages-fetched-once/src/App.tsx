import { useConvex } from "convex/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Doc } from "../convex/_generated/dataModel";

const TOPICS = ["science", "sports", "arts", "travel", "weather"];
const PAGE_SIZE = 5;

type Status = "LoadingFirstPage" | "CanLoadMore" | "LoadingMore" | "Exhausted";

export default function App() {
  const convex = useConvex();
  const [topic, setTopic] = useState("science");
  const [results, setResults] = useState<Doc<"articles">[]>([]);
  const [status, setStatus] = useState<Status>("LoadingFirstPage");
  const cursor = useRef<string | null>(null);
  const selected = useRef(topic);

  const load = useCallback(
    async (wanted: string) => {
      const loaded = await convex.query(api.articles.onTopic, { topic: wanted, paginationOpts: { numItems: PAGE_SIZE, cursor: cursor.current } });
      if (selected.current === wanted) {
        cursor.current = loaded.continueCursor;
        setResults((before) => [...before, ...loaded.page]);
        setStatus(loaded.isDone ? "Exhausted" : "CanLoadMore");
      }
    },
    [convex],
  );

  useEffect(() => {
    selected.current = topic;
    cursor.current = null;
    setResults([]);
    setStatus("LoadingFirstPage");
    void load(topic);
  }, [load, topic]);

  function loadMore() {
    setStatus("LoadingMore");
    void load(topic);
  }

  return (
    <main>
      <select aria-label="Topic" value={topic} onChange={(event) => setTopic(event.target.value)}>
        {TOPICS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {status === "LoadingFirstPage" ? (
        <p>Loading...</p>
      ) : (
        <ul>
          {results.map((article) => (
            <li key={article._id}>{article.title}</li>
          ))}
        </ul>
      )}
      {(status === "CanLoadMore" || status === "LoadingMore") && (
        <button type="button" disabled={status === "LoadingMore"} onClick={() => loadMore()}>
          Load more
        </button>
      )}
      {status === "Exhausted" && <p>No more articles</p>}
    </main>
  );
}
