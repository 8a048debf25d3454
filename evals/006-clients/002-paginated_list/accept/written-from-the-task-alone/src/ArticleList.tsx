import { usePaginatedQuery } from "convex/react";
import { api } from "../convex/_generated/api";

const PAGE_SIZE = 5;

export function ArticleList({ topic }: { topic: string }) {
  const { results, status, loadMore } = usePaginatedQuery(
    api.articles.onTopic,
    { topic },
    { initialNumItems: PAGE_SIZE },
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
          onClick={() => loadMore(PAGE_SIZE)}
        >
          Load more
        </button>
      )}
    </>
  );
}
