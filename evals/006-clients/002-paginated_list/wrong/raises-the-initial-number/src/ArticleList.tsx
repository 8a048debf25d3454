import { usePaginatedQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

const PAGE_SIZE = 5;

export function ArticleList({ topic }: { topic: string }) {
  const [count, setCount] = useState(PAGE_SIZE);
  const { results, status } = usePaginatedQuery(
    api.articles.onTopic,
    { topic },
    { initialNumItems: count },
  );

  if (status === "LoadingFirstPage") {
    return <p>Loading...</p>;
  }
  return (
    <>
      <ul>
        {results.map((article) => (
          <li key={article._id}>{article.title}</li>
        ))}
      </ul>
      {status === "Exhausted" ? (
        <p>No more articles</p>
      ) : (
        <button
          type="button"
          disabled={status === "LoadingMore"}
          onClick={() => setCount(count + PAGE_SIZE)}
        >
          Load more
        </button>
      )}
    </>
  );
}
