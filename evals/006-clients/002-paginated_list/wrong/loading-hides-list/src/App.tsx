import { usePaginatedQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

const TOPICS = ["science", "sports", "arts", "travel", "weather"];
const PAGE_SIZE = 5;

export default function App() {
  const [topic, setTopic] = useState("science");
  const { results, status, isLoading, loadMore } = usePaginatedQuery(api.articles.onTopic, { topic }, { initialNumItems: PAGE_SIZE });

  return (
    <main>
      <select aria-label="Topic" value={topic} onChange={(event) => setTopic(event.target.value)}>
        {TOPICS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {isLoading ? (
        <p>Loading...</p>
      ) : (
        <ul>
          {results.map((article) => (
            <li key={article._id}>{article.title}</li>
          ))}
        </ul>
      )}
      {(status === "CanLoadMore" || status === "LoadingMore") && (
        <button type="button" disabled={status === "LoadingMore"} onClick={() => loadMore(PAGE_SIZE)}>
          Load more
        </button>
      )}
      {status === "Exhausted" && <p>No more articles</p>}
    </main>
  );
}
