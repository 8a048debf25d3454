import { usePaginatedQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

const PAGE_SIZE = 5;

/** Keeps showing what was loaded last until the next first page has arrived, so that nothing flickers. */
function useStableArticles(topic: string) {
  const current = usePaginatedQuery(
    api.articles.onTopic,
    { topic },
    { initialNumItems: PAGE_SIZE },
  );
  const [shown, setShown] = useState(current);
  if (
    current.status !== "LoadingFirstPage" &&
    (current.results !== shown.results || current.status !== shown.status)
  ) {
    setShown(current);
  }
  return current.status === "LoadingFirstPage" ? shown : current;
}

export function ArticleList({ topic }: { topic: string }) {
  const { results, status, loadMore } = useStableArticles(topic);

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
          onClick={() => loadMore(PAGE_SIZE)}
        >
          Load more
        </button>
      )}
    </>
  );
}
