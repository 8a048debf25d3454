import { useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

const TOPICS = ["science", "sports", "arts", "travel", "weather"];
const PAGE_SIZE = 5;

export default function App() {
  const [topic, setTopic] = useState("science");
  const [count, setCount] = useState(PAGE_SIZE);
  const loaded = useQuery(api.articles.onTopic, { topic, paginationOpts: { numItems: count, cursor: null } });
  const results = loaded?.page ?? [];
  const status = loaded === undefined ? "LoadingFirstPage" : loaded.isDone ? "Exhausted" : "CanLoadMore";

  return (
    <main>
      <select aria-label="Topic" value={topic} onChange={(event) => {
          setTopic(event.target.value);
          setCount(PAGE_SIZE);
        }}>
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
      {status === "CanLoadMore" && (
        <button type="button" onClick={() => setCount(count + PAGE_SIZE)}>
          Load more
        </button>
      )}
      {status === "Exhausted" && <p>No more articles</p>}
    </main>
  );
}
